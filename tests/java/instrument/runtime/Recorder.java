package instrument.runtime;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Keeps every event in memory, in order; the tests' stand-in for the runtime. An event fails before it is recorded or not at all. */
public final class Recorder {
    private static final Object LOCK = new Object();
    private static final String[] NAMES = {
        "methodEntry", "constructorEntry", "methodExit", "methodUnwind", "superReturned", "exceptionCaught",
        "libraryEnter", "libraryExit"
    };
    private static int[] events = new int[2 << 16];
    private static Thread[] threads = new Thread[1 << 16];
    private static Object[] allocated = new Object[1 << 16];
    private static int count;
    private static int allocations;
    private static final List<String> OTHERS = new ArrayList<>();

    private Recorder() {}

    static void event(int kind, int id) {
        Thread thread = Thread.currentThread();
        synchronized (LOCK) {
            int at = count;
            if (at == threads.length) {
                threads = Arrays.copyOf(threads, 2 * at);
                events = Arrays.copyOf(events, 4 * at);
            }
            threads[at] = thread;
            events[2 * at] = kind;
            events[2 * at + 1] = id;
            count = at + 1;
        }
    }

    static void allocation(Object object) {
        Class<?> type = object.getClass();
        synchronized (LOCK) {
            int at = allocations;
            if (at == allocated.length) {
                allocated = Arrays.copyOf(allocated, 2 * at);
            }
            allocated[at] = type;
            allocations = at + 1;
        }
    }

    /** A line of its own. */
    static void other(String line) {
        synchronized (LOCK) {
            OTHERS.add(line);
        }
    }

    /** Writes all events, a line each. */
    public static void write(String path) throws IOException {
        synchronized (LOCK) {
            List<Thread> known = new ArrayList<>();
            try (PrintWriter out = new PrintWriter(path, "UTF-8")) {
                for (int i = 0; i < count; i++) {
                    int thread = known.indexOf(threads[i]);
                    if (thread < 0) {
                        thread = known.size();
                        known.add(threads[i]);
                    }
                    out.print(thread + " " + NAMES[events[2 * i]] + " " + events[2 * i + 1] + "\n");
                }
                for (String line : OTHERS) {
                    out.print(line + "\n");
                }
                for (int i = 0; i < allocations; i++) {
                    out.print("new " + ((Class<?>) allocated[i]).getName().replaceAll("\\s", "?") + "\n");
                }
            }
        }
    }
}
