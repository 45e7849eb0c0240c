package instrument.runtime;

/** Which classes have a {@code clone()} of their own, other than that of java.lang.Object. Keeps no class alive. */
final class Clones extends ClassValue<Boolean> {
    private static final Clones INSTANCE = new Clones();

    private Clones() {}

    /** Whether a call of {@code Object.clone()} for an object of this class ends elsewhere. Fails as probes do: not at all. */
    static boolean isOverridden(Class<?> type) {
        ThreadState state = null;
        int mode = ThreadState.OFF;
        try {
            state = CurrentThread.fresh();
            if (state != null) {
                // What the look-up makes is not the program's.
                mode = state.mode;
                if (mode == state.live) {
                    state.mode = ThreadState.BUSY;
                }
            }
            return INSTANCE.get(type);
        } catch (Throwable e) {
            // Then it is counted, perhaps twice.
            return false;
        } finally {
            if (state != null && mode == state.live) {
                state.mode = mode;
            }
        }
    }

    @Override
    protected Boolean computeValue(Class<?> type) {
        for (Class<?> at = type; at != null && at != Object.class; at = at.getSuperclass()) {
            try {
                at.getDeclaredMethod("clone");
                return Boolean.TRUE;
            } catch (NoSuchMethodException e) {
                // Perhaps above.
            } catch (LinkageError e) {
                // A class that one of its methods names is missing.
            }
        }
        return Boolean.FALSE;
    }
}
