package instrument.runtime;

/**
 * What injected code calls after something was made. Counted is per class and per place: the context, or the method on top of
 * the shadow stack. Code that was rewritten before the virtual machine is initialised calls only the early wrappers, which
 * do nothing until {@link #JVMInit}.
 *
 * <p>The constructor of java.lang.Object is called by whatever the recorder itself does. Such a call finds its thread BUSY, or on
 * its way to a state, and is not recorded; what comes before that makes nothing.
 */
public final class HeapProxy {
    private static boolean initialised;
    /** Every object gets a biography, too. */
    static boolean biographies;

    private HeapProxy() {}

    /** The virtual machine is initialised: the early wrappers may pass their calls on. */
    public static void JVMInit() {
        initialised = true;
    }

    /** An object has been constructed, or is being constructed by java.lang.Object. */
    public static void ObjectAlloc(Object object) {
        made(object);
    }

    /** {@link #ObjectAlloc}, for code that may run before the virtual machine is initialised. */
    public static void EarlyObjectAlloc(Object object) {
        if (initialised) {
            made(object);
        }
    }

    /** An array has been made. */
    public static void ArrayAlloc(Object array) {
        made(array);
    }

    /** {@link #ArrayAlloc}, for code that may run before the virtual machine is initialised. */
    public static void EarlyArrayAlloc(Object array) {
        if (initialised) {
            made(array);
        }
    }

    /** An array has been made, and with it every array that is in it. */
    public static void MultiArrayAlloc(Object array) {
        made(array);
        if (array instanceof Object[] && array.getClass().getComponentType().isArray()) {
            Object[] rows = (Object[]) array;
            for (int i = 0; i < rows.length && rows[i] != null; i++) {
                MultiArrayAlloc(rows[i]);
            }
        }
    }

    /** {@code Object.clone()} was called, and whatever overrides it: that calls {@link #ObjectAlloc} itself. */
    public static void CloneAlloc(Object object) {
        if (object != null && (object.getClass().isArray() || !Clones.isOverridden(object.getClass()))) {
            made(object);
        }
    }

    private static void made(Object object) {
        ThreadState state = null;
        try {
            state = CurrentThread.current();
            if (state == null) {
                state = CurrentThread.newState();
            }
            if (state != null && (biographies || !state.allocateAgain(object))) {
                slowly(state, object);
            }
        } catch (StackOverflowError e) {
            if (state != null) {
                state.missed++;
            }
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
        }
    }

    /** An object that the fast path does not take. */
    static void slowly(ThreadState known, Object object) {
        ThreadState state = known.isOld() ? CurrentThread.renewed(known) : known;
        if (state.isPaused() || !state.begin(0)) {
            return;
        }
        boolean room;
        try {
            room = biographies && !begins(state, object) || state.allocate(object);
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = state.live;
            }
        }
        if (!room) {
            state.stop();
            state.drop();
        } else if (state.missed != 0) {
            state.dropMissed();
        }
    }

    /** Begins the biography of an object. False: it has one, or is not to have one. */
    private static boolean begins(ThreadState state, Object object) {
        ClassNames.Entry type = ClassNames.of(object);
        return type.number != 0 && HeapEvents.begin(object, type, state);
    }
}
