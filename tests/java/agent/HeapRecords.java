/** Objects of newer kinds. */
public class HeapRecords {
    static volatile Object sink;

    record Point(int x, int y) {}

    public static void main(String[] arguments) {
        for (int i = 0; i < 60; i++) {
            sink = new Point(i, i);
            Runnable hidden = () -> sink = null;
            hidden.run();
            sink = "joined " + i;
        }
        System.out.println(((String) sink).length());
    }
}
