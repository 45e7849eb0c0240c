package instrument.runtime;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** CPU time of threads. Loaded only if it is asked for: java.management may be absent. */
final class CpuClock {
    private static volatile ThreadMXBean threads;
    private static boolean complained;

    private CpuClock() {}

    /** False: there is none, which is said. */
    static boolean start() {
        try {
            JdkModules.read();
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

    /** Of the current thread, in ns. */
    static long now() {
        return threads.getCurrentThreadCpuTime();
    }

    /** Of a thread by its number, in ns; -1: it has ended. */
    static long of(long thread) {
        return threads.getThreadCpuTime(thread);
    }

    /** Whether it was {@link #start started}. */
    static boolean isOpen() {
        return threads != null;
    }

    /** What fails to link fails here. */
    private static final class Access {
        static void open() {
            ThreadMXBean all = ManagementFactory.getThreadMXBean();
            if (!all.isCurrentThreadCpuTimeSupported()) {
                throw new UnsupportedOperationException("the virtual machine does not measure it");
            }
            all.setThreadCpuTimeEnabled(true);
            all.getCurrentThreadCpuTime();
            threads = all;
        }
    }
}
