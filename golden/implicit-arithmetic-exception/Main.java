public class Main {
    static int divide(int a, int b) {
        return a / b;
    }

    static int index(int[] a) {
        return a[a.length];
    }

    static String cast(Object o) {
        return (String) o;
    }

    static int length(String s) {
        return s.length();
    }

    public static void main(String[] args) {
        int caught = 0;
        int[] empty = {};
        for (int i = 0; i < 1000; i++) {
            try {
                divide(i, 0);
            } catch (ArithmeticException e) {
                caught++;
            }
            try {
                index(empty);
            } catch (ArrayIndexOutOfBoundsException e) {
                caught++;
            }
            try {
                cast(empty);
            } catch (ClassCastException e) {
                caught++;
            }
            try {
                length(null);
            } catch (NullPointerException e) {
                caught++;
            }
        }
        System.out.println(caught);
    }
}
