public class Main {
    static final class Resource implements AutoCloseable {
        final int n;

        Resource(int n) {
            this.n = n;
        }

        @Override
        public void close() {
            if (n == 1) {
                throw new IllegalStateException("close");
            }
        }
    }

    static int use(int close, int body) {
        try (Resource resource = new Resource(close)) {
            if (body == 1) {
                throw new IllegalArgumentException("body");
            }
            return resource.n;
        } finally {
            if (body == 2 && close == 2) {
                System.out.println("finally");
            }
            if (body == 2 && close != 2) {
                throw new UnsupportedOperationException("finally");
            }
        }
    }

    public static void main(String[] args) {
        for (int close = 0; close < 3; close++) {
            for (int body = 0; body < 3; body++) {
                try {
                    System.out.println(use(close, body));
                } catch (RuntimeException e) {
                    System.out.println(e.getMessage() + " " + e.getSuppressed().length);
                }
            }
        }
    }
}
