/** Prints System.nanoTime() before, within and after a call that takes a while. */
public class Moments {
    private static long begin;
    private static long end;

    static void pause() throws Exception {
        begin = System.nanoTime();
        Thread.sleep(50);
        end = System.nanoTime();
    }

    public static void main(String[] args) throws Exception {
        long before = System.nanoTime();
        pause();
        long after = System.nanoTime();
        System.out.println(before + "\n" + begin + "\n" + end + "\n" + after);
        // No exit event: this call stays open.
        System.exit(0);
    }
}
