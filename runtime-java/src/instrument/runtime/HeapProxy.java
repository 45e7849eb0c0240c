package instrument.runtime;

/**
 * What injected code calls after it has made an object. Without an agent the counting is done here, per class and per
 * method on top of the shadow stack. Code that was rewritten before the virtual machine is initialised calls only the
 * early wrappers, which do nothing until {@link #JVMInit}.
 */
public final class HeapProxy {
    private static boolean initialised;

    private HeapProxy() {}

    /** The virtual machine is initialised: the early wrappers may pass their calls on. */
    public static void JVMInit() {
        initialised = true;
    }

    /** An object has been constructed. */
    public static void ObjectAlloc(Object object) {
        count(object);
    }

    /** {@link #ObjectAlloc}, for code that may run before the virtual machine is initialised. */
    public static void EarlyObjectAlloc(Object object) {
        if (initialised) {
            ObjectAlloc(object);
        }
    }

    /** An array has been made. */
    public static void ArrayAlloc(Object array) {
        count(array);
    }

    /** {@link #ArrayAlloc}, for code that may run before the virtual machine is initialised. */
    public static void EarlyArrayAlloc(Object array) {
        if (initialised) {
            ArrayAlloc(array);
        }
    }

    private static void count(Object object) {
        ThreadState state = null;
        try {
            state = ProfilerRuntime.current();
            if (state == null) {
                state = ProfilerRuntime.newState();
            }
            if (state != null) {
                state.allocated(object);
            }
        } catch (StackOverflowError e) {
            if (state != null) {
                state.missed++;
            }
        } catch (Throwable e) {
            ProfilerRuntime.failed(state, e);
        }
    }
}
