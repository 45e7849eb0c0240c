/** Objects that are made in contexts that a test knows. */
public class Made {
    static class Thing {}

    static Thing[] things = new Thing[200];
    static long[][] rows;

    static Thing one() {
        return new Thing();
    }

    static void few() {
        for (int i = 0; i < 3; i++) {
            things[i] = one();
        }
    }

    static void many() {
        for (int i = 0; i < 1000; i++) {
            things[100 + i % 100] = one();
        }
    }

    static void rows() {
        rows = new long[4][8];
    }

    public static void main(String[] args) {
        few();
        many();
        rows();
    }
}
