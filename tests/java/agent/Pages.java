import java.nio.file.Files;
import java.nio.file.Paths;

/** Uses memory for the first time, and says how many page faults of the main thread that were: `many` three times those of `few`. */
class Pages {
    static byte[][] kept = new byte[40][];
    static int used;

    public static void main(String[] args) throws Exception {
        faults();
        long start = faults();
        many();
        long middle = faults();
        few();
        long end = faults();
        System.out.println("many " + (middle - start));
        System.out.println("few " + (end - middle));
        System.out.println("main " + end);
    }

    static void many() {
        for (int i = 0; i < 30; i++) touch();
    }

    static void few() {
        for (int i = 0; i < 10; i++) touch();
    }

    static void touch() {
        kept[used++] = new byte[10 << 20];
    }

    /** proc(5): those that needed no disk, of the thread that asks. */
    static long faults() throws Exception {
        String stat = new String(Files.readAllBytes(Paths.get("/proc/thread-self/stat")), "ISO-8859-1");
        return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[7]);
    }
}
