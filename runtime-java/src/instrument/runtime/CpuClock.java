package instrument.runtime;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** CPU time of the current thread. Loaded only if it is asked for: java.management may be absent. */
final class CpuClock {
    private static ThreadMXBean threads;
    private static boolean complained;

    private CpuClock() {}

    /** False: there is none, which is said. */
    static boolean start() {
        try {
            JdkImage.readModules();
            Access.open();
            return true;
        } catch (Throwable e) {
            Log.say("no CPU time is recorded: " + e);
            threads = null;
            return false;
        }
    }

    /** False: not that of this thread, as of a virtual one, which is said once. */
    static boolean measures() {
        boolean measures = false;
        try {
            measures = threads.getCurrentThreadCpuTime() >= 0;
        } catch (UnsupportedOperationException e) {
            // Said below.
        }
        if (!measures && !complained) {
            complained = true;
            Log.say("no CPU time is recorded of virtual threads");
        }
        return measures;
    }

    /** In ns. */
    static long now() {
        return threads.getCurrentThreadCpuTime();
    }

    /** What fails to link fails here. */
    private static final class Access {
        static void open() {
            threads = ManagementFactory.getThreadMXBean();
            if (!threads.isCurrentThreadCpuTimeSupported()) {
                throw new UnsupportedOperationException("the virtual machine does not measure it");
            }
            threads.setThreadCpuTimeEnabled(true);
            threads.getCurrentThreadCpuTime();
        }
    }
}
