public class Main {
    static StringBuilder make(boolean full) {
        return new StringBuilder(full ? "full" : "empty");
    }

    public static void main(String[] args) {
        System.out.println(make(true));
        System.out.println(make(false));
    }
}
