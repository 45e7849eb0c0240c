public class Main {
    static double mix(long a, double b, int n, String text) {
        long c = a;
        for (int i = 0; i < n; i++) {
            double d = b * i;
            try {
                long e = c + text.length();
                if (d > e) {
                    float f = 1.5f;
                    c += (long) f;
                } else {
                    c += i;
                }
            } catch (NullPointerException failed) {
                double g = d + 1;
                c -= (long) g;
            }
        }
        return c + b;
    }

    public static void main(String[] args) {
        for (int i = 0; i < 6; i++) {
            System.out.println(mix(10L * i, i / 2.0, i, i % 2 == 0 ? "text" : null));
        }
    }
}
