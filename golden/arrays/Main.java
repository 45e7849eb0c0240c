public class Main {
    static int negative(int n) {
        try {
            return new int[n].length + new String[n].length + new long[1][n].length;
        } catch (NegativeArraySizeException e) {
            return -1;
        }
    }

    static Object deep(int n) {
        Object[][][][][][][][] cube = new Object[2][1][1][1][1][1][1][1];
        for (int i = 0; i < n; i++) {
            cube[i] = null;
        }
        return cube;
    }

    static String huge() {
        try {
            return "made " + new long[Integer.MAX_VALUE].length;
        } catch (OutOfMemoryError e) {
            return "too big";
        }
    }

    public static void main(String[] args) {
        Object[] all = {
            new boolean[1], new char[1], new float[1], new double[1], new byte[1], new short[1], new int[1], new long[1],
            new String[1], new int[2][], new int[2][3]
        };
        System.out.println(all.length + " " + new int[] {1, 2, 3}.length + " " + new int[0].length);
        System.out.println(negative(-1));
        System.out.println(negative(2));
        System.out.println(deep(2).getClass());
        System.out.println(huge());
    }
}
