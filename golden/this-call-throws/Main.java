public class Main {
    static int calls;

    Main() {
        this(++calls);
    }

    Main(int n) {
        this(n, n % 2);
    }

    Main(int n, int odd) {
        System.out.println(n / odd);
    }

    public static void main(String[] args) {
        for (int i = 0; i < 10; i++) {
            try {
                new Main();
            } catch (ArithmeticException e) {
                System.out.println("failed");
            }
        }
    }
}
