public class Main {
    static void down(int n) {
        if (n == 0) {
            System.exit(42);
        }
        down(n - 1);
    }

    public static void main(String[] args) {
        System.out.println("before");
        down(3);
    }
}
