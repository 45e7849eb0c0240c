//@calls big 3
final class ManyLocals {
    private long total;

    synchronized strictfp double big(int a, long b, float c, double d, Object e, int[] f, boolean g, char h) {
        //@fill
        //@repeat 300 long v$i = a + $i * b;
        if (!Thread.holdsLock(this)) {
            throw new IllegalStateException("the lock is not held");
        }
        //@repeat 300 total += v$i;
        return total + c * d + e.hashCode() + f[0] + (g ? h : -h);
    }

    static void run() {
        ManyLocals locals = new ManyLocals();
        for (int i = 0; i < 3; i++) {
            System.out.println(locals.big(i, i + 1L, i + 0.5f, i + 0.25, "e", new int[] { i }, i == 1, 'h'));
        }
    }
}
