/** Calls deeply, and into code of the JDK, while it is interrupted: what the recorder does for it must not need the interrupt. */
public class Interrupted {
    private static int sum;

    /** Every depth is a context of its own. */
    static int down(int depth) {
        sum += Integer.toString(depth).hashCode();
        return depth == 0 ? 0 : down(depth - 1) + 1;
    }

    public static void main(String[] args) throws Exception {
        Thread.currentThread().interrupt();
        int depth = down(3000);
        System.out.println(depth + " " + Thread.currentThread().isInterrupted());
        Thread other = new Thread() {
            @Override
            public void run() {
                interrupt();
                System.out.println(down(3000) + " " + isInterrupted());
            }
        };
        Thread.interrupted();
        other.start();
        other.join();
    }
}
