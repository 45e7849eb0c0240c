/** Two threads, exceptions, a constructor whose super() throws: so many calls each, whatever the machine. */
public class Exported {
    static class Base {
        Base(int n) {
            if (n % 8 == 0) {
                throw new IllegalArgumentException();
            }
        }
    }

    static class Item extends Base {
        Item(int n) {
            super(n);
        }
    }

    static int make(int n) {
        try {
            new Item(n);
            return 1;
        } catch (IllegalArgumentException e) {
            return 0;
        }
    }

    static int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    public static void main(String[] arguments) throws Exception {
        Thread worker = new Thread(new Runnable() {
            public void run() {
                fibonacci(12);
            }
        }, "worker");
        worker.start();
        int made = 0;
        for (int i = 0; i < 1000; i++) {
            made += make(i);
        }
        worker.join();
        System.out.println(made + " made");
    }
}
