package instrument.runtime;

/** Which constructors are on the stack of the current thread. By what Java 8 has; {@code LaterStacks} is faster, and tells constructors of one class apart. */
class Stacks {
    /** -XX:MaxJavaStackTraceDepth unless set. A trace as long as this may have been cut. */
    private static final int MOST = 1024;

    static final Stacks STACKS = create();

    Stacks() {}

    /** A name for each constructor, innermost first, so many at most; null: this is not known. Equal names: of one class, or one constructor. */
    String[] constructors(int most) {
        StackTraceElement[] trace = new Throwable().getStackTrace();
        String[] names = new String[trace.length];
        int count = 0;
        for (int i = 0; i < trace.length && count < most; i++) {
            if ("<init>".equals(trace[i].getMethodName())) {
                names[count++] = trace[i].getClassName();
            }
        }
        // An empty trace means that there are none.
        return trace.length == 0 || trace.length >= MOST && count < most ? null : java.util.Arrays.copyOf(names, count);
    }

    /** The name of the constructor that is the innermost frame but for those of the recorder; null: it is none, or this is not known. */
    String caller() {
        StackTraceElement[] trace = new Throwable().getStackTrace();
        int at = 0;
        while (at < trace.length && isOwn(trace[at].getClassName())) {
            at++;
        }
        return at < trace.length && "<init>".equals(trace[at].getMethodName()) ? trace[at].getClassName() : null;
    }

    /** Of a class of the recorder, or the one that calls it in a rewritten JDK. */
    static boolean isOwn(String name) {
        return name.startsWith("instrument.runtime.") || name.equals("java.lang.InstrumentProbes");
    }

    private static Stacks create() {
        try {
            Stacks stacks = (Stacks) Class.forName("instrument.runtime.LaterStacks").newInstance();
            stacks.constructors(1);
            stacks.caller();
            return stacks;
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            return new Stacks();
        }
    }
}
