public class Main {
    static class Base {
        final Base next;

        Base(int n) {
            next = new Deep(n + 1);
        }
    }

    static class Deep extends Base {
        final Base other;

        Deep(int n) {
            super(n);
            other = new Deep(n + 1);
        }
    }

    static void attempt() {
        try {
            new Deep(0);
        } catch (StackOverflowError e) {
            System.out.println("overflow");
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 10; i++) {
            attempt();
        }
    }
}
