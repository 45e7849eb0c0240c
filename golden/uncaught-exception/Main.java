public class Main {
    static void down(int n) {
        if (n == 0) {
            throw new IllegalStateException("bottom");
        }
        down(n - 1);
    }

    public static void main(String[] args) {
        down(3);
    }
}
