/** A record, a sealed interface, a hidden class's instance: what the language has had since Known was written. */
public record Point(int x, String y, Point next) {
    sealed interface Shape permits Round {}

    record Round(double radius) implements Shape {}

    static Point point = new Point(7, "seven", new Point(8, null, null));
    static Shape shape = new Round(0.25);

    public static void main(String[] args) {
        System.out.println(point);
    }
}
