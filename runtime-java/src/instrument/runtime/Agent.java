package instrument.runtime;

import java.io.UnsupportedEncodingException;

/**
 * What the agent calls when it rewrites classes as they load: ids are given then, so the id map comes in pieces. A piece is
 * in the profile before the class that it is about can run; pieces from before the first event wait for the file.
 */
final class Agent {
    /** Guards the pieces; nothing else is locked and no class is loaded under it. */
    private static final Object PIECES = new Object();
    private static byte[][] waiting = new byte[64][];
    private static int count;
    /** Held while pieces are written, by threads that are not inside the runtime otherwise. */
    private static final Object WRITING = new Object();
    private static volatile ProfileFile file;
    /** Classes are rewritten as they load: a program is waiting to start while anything is done at the first event. */
    static boolean present;

    private Agent() {}

    /** The agent's clock is registered: what it says of it, as lines of KEY=VALUE. Nothing has read a clock before. */
    static void clock(byte[] lines) throws UnsupportedEncodingException {
        Clock.registered(new String(lines, "UTF-8"));
    }

    /**
     * What the agent was told for the recorder: lines of KEY=VALUE. What the program was started with goes before it. No
     * class is rewritten yet: a probe must not find the recorder half initialised because it was called from there.
     */
    static void configure(byte[] lines) throws UnsupportedEncodingException {
        ProfilerRuntime.current();
        present = true;
        String text = new String(lines, "UTF-8");
        for (int start = 0, end; (end = text.indexOf('\n', start)) >= 0; start = end + 1) {
            int equals = text.indexOf('=', start);
            String key = "instrument." + text.substring(start, equals);
            if (System.getProperty(key) == null) {
                System.setProperty(key, text.substring(equals + 1, end));
            }
        }
    }

    /**
     * Begins to record before any class of the JDK is rewritten: what the recorder calls to begin must not call it. Takes an
     * array as the others do, and looks at nothing in it.
     */
    static void begin(byte[] nothing) {
        ThreadState state = ProfilerRuntime.newState();
        if (state == null) {
            return;
        }
        int mode = state.mode;
        state.mode = ThreadState.BUSY;
        try {
            Threads.start();
        } finally {
            state.mode = mode;
        }
    }

    /**
     * A piece of the id map: a gzip file; or nothing, to write what is left. May be called within anything that loads a
     * class, probes included.
     */
    static void idMap(byte[] map) {
        if (map.length > 0) {
            keep(map);
        }
        if (file == null) {
            return;
        }
        ThreadState state = ProfilerRuntime.current();
        if (state == null) {
            state = ProfilerRuntime.newState();
        }
        // A thread inside the runtime may be writing to the file at this moment; the next piece takes this one along.
        if (state == null || state.mode == ThreadState.BUSY) {
            return;
        }
        int mode = state.mode;
        // Code of the JDK that is called from here may have been rewritten, too.
        state.mode = ThreadState.BUSY;
        try {
            writeKept();
        } finally {
            state.mode = mode;
        }
    }

    /** The file is open: writes what was waiting for it. The caller's probes do nothing. */
    static void opened(ProfileFile profile) {
        file = profile;
        writeKept();
    }

    private static void keep(byte[] map) {
        synchronized (PIECES) {
            if (count == waiting.length) {
                byte[][] more = new byte[2 * count][];
                System.arraycopy(waiting, 0, more, 0, count);
                waiting = more;
            }
            waiting[count++] = map;
        }
    }

    private static byte[] take() {
        synchronized (PIECES) {
            return count == 0 ? null : waiting[--count];
        }
    }

    private static void writeKept() {
        synchronized (WRITING) {
            for (byte[] map = take(); map != null; map = take()) {
                boolean done = false;
                try {
                    // Where the file is full it has said so; later pieces are of no use either.
                    file.write(Format.ID_MAP, map, map.length);
                    done = true;
                } finally {
                    if (!done) {
                        keep(map);
                    }
                }
            }
        }
    }
}
