public class Main {
    static int inside(int n) {
        try {
            if (n % 2 == 0) {
                throw new IllegalStateException();
            }
            return 1;
        } catch (IllegalStateException e) {
            return 2;
        }
    }

    static int rethrows(int n) {
        try {
            if (n % 2 == 0) {
                throw new IllegalStateException("first");
            }
            return 1;
        } catch (IllegalStateException e) {
            throw new UnsupportedOperationException(e);
        }
    }

    public static void main(String[] args) {
        int sum = 0;
        int failed = 0;
        for (int i = 0; i < 1000; i++) {
            sum += inside(i);
            try {
                sum += rethrows(i);
            } catch (UnsupportedOperationException e) {
                failed++;
            }
        }
        System.out.println(sum + " " + failed);
    }
}
