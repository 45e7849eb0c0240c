public class Main {
    static class Bad {
        static final int VALUE = fail();

        static int fail() {
            throw new IllegalStateException("no");
        }
    }

    static void attempt() {
        try {
            System.out.println(Bad.VALUE);
        } catch (ExceptionInInitializerError e) {
            System.out.println("first " + e.getCause().getMessage());
        } catch (NoClassDefFoundError e) {
            System.out.println("second");
        }
    }

    public static void main(String[] args) {
        attempt();
        attempt();
    }
}
