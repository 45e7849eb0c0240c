/** Many calls of a method that does next to nothing. */
public class Tiny {
    static int tiny(int x) {
        return x * 31 + 7;
    }

    static int outer(int x) {
        for (int i = 0; i < 2_000; i++) {
            x = tiny(x);
        }
        return x;
    }

    public static void main(String[] args) {
        int x = 0;
        for (int i = 0; i < 100; i++) {
            x = outer(x);
        }
        System.out.println(x);
    }
}
