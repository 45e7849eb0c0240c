package instrument.runtime;

/**
 * What stands above all parts of the recorder and sets them up: {@link Start}. From below it is known by its name alone: whatever has probes may have the first
 * event, so every part asks for a recorder, and the recorder uses every part.
 */
abstract class Recorder {
    private static final String NAME = "instrument.runtime.Start";
    /** Set in a thread that looks for the recorder, and reads the settings. */
    private static final ThreadLocal<Thread> CONFIGURING = new ThreadLocal<Thread>();
    private static volatile Recorder recorder;

    Recorder() {}

    static Recorder get() {
        if (recorder == null) {
            try {
                // Sets itself up: an object made by reflection would need more of the JDK.
                Class.forName(NAME);
            } catch (ClassNotFoundException e) {
                throw new NoClassDefFoundError(NAME);
            }
        }
        return recorder;
    }

    /** This one sets up everything. */
    static void set(Recorder start) {
        recorder = start;
    }

    /** Reads the settings if nobody did; false: this thread is about to. Code of the program's class loader may run. */
    static boolean configured() {
        if (Recording.settings != null) {
            return true;
        }
        if (CONFIGURING.get() != null) {
            return false;
        }
        CONFIGURING.set(Thread.currentThread());
        try {
            get().configure();
        } finally {
            CONFIGURING.remove();
        }
        return true;
    }

    /** Reads the settings. */
    abstract void configure();

    /** Opens the file, if that was not done; false: nothing is recorded. */
    abstract boolean start();

    /** The first event of the current thread, whose state this is: its mode says what becomes of it. */
    abstract void arrive(ThreadState state);

    /** Gives the current thread its regions; false: it will not be recorded, and its mode says why. */
    abstract boolean attach(ThreadState state);

    /** A state of the one kind that this process uses. */
    abstract ThreadState newState(Thread owner);

    /** The state of the current thread, which has none in its thread locals; a new one unless it has lost them. */
    abstract ThreadState stateOf(Thread thread);
}
