/** Works, has a library take the signals that have handlers for some seconds, and works on. */
public class TakeSignal {
    static native int take(int seconds);

    static long work(int millis) {
        long end = System.nanoTime() + millis * 1_000_000L, sum = 0;
        while (System.nanoTime() < end) {
            sum += System.nanoTime() & 7;
        }
        return sum;
    }

    public static void main(String[] args) {
        System.loadLibrary("take");
        long sum = work(300);
        int taken = take(4);
        sum += work(300);
        System.out.println(taken + (sum == 0 ? " signals?" : " signals"));
    }
}
