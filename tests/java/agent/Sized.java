import java.lang.instrument.Instrumentation;

/** Arrays of every kind, and how many bytes the virtual machine says that they have. */
public class Sized {
    static Instrumentation instrumentation;
    static Object sink;

    public static void premain(String words, Instrumentation given) {
        instrumentation = given;
    }

    static long bytes(Object array) {
        sink = array;
        return instrumentation.getObjectSize(array);
    }

    static long made() {
        long all = 0;
        for (int i = 0; i < 70; i++) {
            all += bytes(new byte[i]) + bytes(new boolean[i]) + bytes(new char[i]) + bytes(new int[i]) + bytes(new double[i]);
            all += bytes(new Object[i]) + bytes(new long[i][]);
        }
        return all;
    }

    public static void main(String[] words) {
        System.out.println(made());
    }
}
