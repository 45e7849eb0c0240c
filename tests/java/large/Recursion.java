//@calls big 33 22
final class Recursion {
    private int unwound;

    int big(int depth, boolean fails) {
        //@fill
        if (depth == 0) {
            if (fails) {
                throw new IllegalStateException("deep");
            }
            return unwound;
        }
        try {
            return big(depth - 1, fails) + 1;
        } finally {
            unwound++;
        }
    }

    static void run() {
        Recursion recursion = new Recursion();
        System.out.println(recursion.big(10, false));
        for (int i = 0; i < 2; i++) {
            try {
                recursion.big(10, true);
            } catch (IllegalStateException e) {
                int frames = 0;
                for (StackTraceElement frame : e.getStackTrace()) {
                    frames += frame.getMethodName().equals("big") ? 1 : 0;
                }
                System.out.println(recursion.unwound + " " + frames);
            }
        }
    }
}
