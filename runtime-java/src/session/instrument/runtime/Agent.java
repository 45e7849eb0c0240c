package instrument.runtime;

import java.io.UnsupportedEncodingException;
import java.nio.ByteBuffer;
import java.util.ArrayList;

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
    /** The properties that are set because the agent was told so. */
    private static final ArrayList<String> GIVEN = new ArrayList<String>();

    private Agent() {}

    /** The agent's clock is registered: what it says of it, as lines of KEY=VALUE. Nothing has read a clock before. */
    static void clock(byte[] lines) throws UnsupportedEncodingException {
        Clock.registered(new String(lines, "UTF-8"));
    }

    /** The agent's sampler is registered: what it says of it, as lines of KEY=VALUE. */
    static void samples(byte[] lines) throws UnsupportedEncodingException {
        Settings.agentSampler = new String(lines, "UTF-8");
    }

    /**
     * What the agent was told for the recorder: lines of KEY=VALUE. What the program was started with goes before it. No
     * class is rewritten yet: a probe must not find the recorder half initialised because it was called from there.
     */
    static void configure(byte[] lines) throws UnsupportedEncodingException {
        if (Recording.isOver()) {
            renew();
            Session.begin();
        }
        CurrentThread.current();
        Settings.underAgent = true;
        String text = new String(lines, "UTF-8");
        StringBuilder names = new StringBuilder();
        for (int start = 0, end; (end = text.indexOf('\n', start)) >= 0; start = end + 1) {
            int equals = text.indexOf('=', start);
            String key = text.substring(start, equals);
            String value = text.substring(equals + 1, end);
            if (key.startsWith("region.") || key.startsWith("heap.") || key.equals("selection")) {
                names.append(key).append('=').append(value).append('\n');
            } else if (System.getProperty("instrument." + key) == null) {
                System.setProperty("instrument." + key, value);
                GIVEN.add("instrument." + key);
            }
        }
        Settings.agentLines = names.toString();
    }

    /**
     * Begins to record before any class of the JDK is rewritten: what the recorder calls to begin must not call it. Takes an
     * array as the others do, and looks at nothing in it.
     */
    static void begin(byte[] nothing) {
        ThreadState state = CurrentThread.newState();
        if (state == null) {
            return;
        }
        int mode = state.mode;
        state.mode = ThreadState.BUSY;
        try {
            Recorder.get().start();
        } finally {
            state.mode = mode;
        }
    }

    // ---- requests to the running program, from the agent's own thread ----

    /** The thread that answers them. */
    static Thread thread() {
        Thread thread = OwnThreads.thread(null);
        thread.setName("instrument ctl");
        return thread;
    }

    /** That thread has begun. */
    static void began() {
        CurrentThread.leaveOut();
    }

    /** Pauses or resumes recording. */
    static void pause(boolean on) {
        Pauses.set(on);
        Samples.followPauses();
    }

    /** Writes that the process lives, and which threads ended. */
    static void beat() {
        ProfileFile profile = Recording.file;
        if (profile != null) {
            profile.clock(Format.BEAT);
            Threads.markEnded();
        }
    }

    /** Where the profile is; nothing: it was not begun. */
    static byte[] profile() throws UnsupportedEncodingException {
        ProfileFile profile = Recording.file;
        return profile == null ? new byte[0] : profile.path().getBytes("UTF-8");
    }

    /** Why the profile was not begun; nothing: it was. */
    static byte[] refusal() throws UnsupportedEncodingException {
        String refusal = Recording.refusal;
        return refusal == null ? new byte[0] : refusal.getBytes("UTF-8");
    }

    /** What can be told of the recording, as lines of KEY=VALUE, escaped as properties are. */
    static byte[] status() throws UnsupportedEncodingException {
        StringBuilder text = new StringBuilder();
        Settings settings = Recording.settings;
        ProfileFile profile = Recording.file;
        if (settings != null) {
            text.append(Host.properties(settings));
        }
        if (profile != null) {
            ProfileFile.line(text, "file", profile.path());
            ProfileFile.line(text, "threads", Integer.toString(Threads.attached()));
        }
        ProfileFile.line(text, "recording", Pauses.isAsked() ? "paused" : "on");
        ProfileFile.line(text, "pauses", Integer.toString(Pauses.count()));
        ProfileFile.line(text, "paused.ns", Long.toString(Pauses.ns(Clock.now())));
        return text.toString().getBytes("UTF-8");
    }

    /** The ids of the methods that were entered for the first time since this was called, four bytes each. */
    static byte[] entered() {
        return Entered.take();
    }

    /** The recording ends, and the program goes on. No class has probes any more. Looks at nothing in the array. */
    static void stop(byte[] nothing) {
        ThreadState state = CurrentThread.fresh();
        if (state != null) {
            state.mode = ThreadState.OFF;
        }
        Session.end();
        for (String key : GIVEN) {
            System.clearProperty(key);
        }
        GIVEN.clear();
    }

    /** Another recording begins. */
    private static void renew() {
        synchronized (PIECES) {
            waiting = new byte[64][];
            count = 0;
        }
        file = null;
        Settings.agentLines = null;
        Entered.renew();
    }

    // ---- roots that run already ----

    /** A call that is open on the stack of a thread, {@code place} frames above the bottom; those of a thread come one after the other. */
    static void running(Thread thread, int place, int id, long method, boolean apart) {
        Running.found(thread, place, id, method, apart);
    }

    /** These were all of a thread. */
    static void runningKnown() {
        Running.publish();
    }

    // ---- the id map ----

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
        ThreadState state = CurrentThread.fresh();
        if (state == null) {
            state = CurrentThread.newState();
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

    /** Methods of a class that is about to be rewritten are roots: their ids, four bytes each. */
    static void roots(byte[] ids) {
        Roots.add(ids);
    }

    /** Methods are roots no longer: their ids, four bytes each. */
    static void removeRoots(byte[] ids) {
        Roots.remove(ids);
    }

    /** Methods of a class that is about to be rewritten have their durations kept: see {@link KeptMethods#add}. */
    static void kept(byte[] methods) {
        KeptMethods.add(methods);
    }

    /** The same for methods that may have been called before. */
    static void keptLate(byte[] methods) {
        KeptMethods.addLate(methods);
    }

    /** The program ends; these patterns match no method that was rewritten as it was loaded. */
    static void missed(byte[] lines) throws UnsupportedEncodingException {
        for (String pattern : new String(lines, "UTF-8").split("\n")) {
            if (!Roots.wasFound(pattern)) {
                Log.say("no method that was loaded matches the root " + pattern);
            }
        }
    }

    /** What the agent itself has to say, at the end or before, as lines of KEY=VALUE. */
    static void properties(byte[] lines) throws UnsupportedEncodingException {
        ProfileFile profile = file;
        if (profile != null) {
            profile.write(Format.PROPERTIES, new String(lines, "UTF-8"));
        }
    }

    /** Memory of the profile for what the agent samples: a region of this length, whose third word says where in the file it lies; null: there is no room. */
    static ByteBuffer region(int length) {
        ProfileFile profile = file;
        Region region = profile == null ? null : profile.allocate(length);
        if (region == null) {
            return null;
        }
        region.put(2, region.fileOffset);
        return region.memory();
    }

    /** A piece of the id map, a gzip file, for methods that were sampled. */
    static void sampled(byte[] map) {
        ProfileFile profile = file;
        if (profile != null) {
            profile.write(Format.ID_MAP, map, map.length);
        }
    }

    /** The program ends: who holds objects that may leak. */
    static void holders(byte[] data) {
        ProfileFile profile = file;
        if (profile != null) {
            profile.write(Format.HOLDERS, data, data.length);
        }
    }

    /** Methods were excluded or included, roots added or removed: the data of that, whose first word is for the clock. */
    static void selectionChange(byte[] data) {
        ProfileFile profile = file;
        if (profile != null) {
            long now = Clock.now();
            for (int i = 0; i < 8; i++) {
                data[i] = (byte) (now >>> 8 * i);
            }
            profile.write(Format.SELECTION_CHANGES, data, data.length);
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

    // ---- objects ----

    /** The virtual machine is initialised, the constructor of java.lang.Object rewritten: from here on objects are recorded. */
    static void heapBegins(byte[] nothing) {
        ThreadState state = CurrentThread.fresh();
        int mode = state.mode;
        state.mode = ThreadState.BUSY;
        try {
            if (Recording.file == null) {
                return;
            }
            HeapProxy.biographies = HeapEvents.prepare();
        } finally {
            state.mode = mode;
        }
        HeapProxy.JVMInit();
    }

    /** The objects of an array were made before, in this order; null stands behind the last one. */
    static void madeBefore(Object objects) {
        Object[] array = (Object[]) objects;
        if (array[array.length - 1] != null) {
            Log.say("start-up made more than " + array.length + " objects: the rest of them is not recorded");
        }
        for (int i = 0; i < array.length && array[i] != null; i++) {
            HeapProxy.ObjectAlloc(array[i]);
            array[i] = null;
        }
    }

    /** The virtual machine has made an object. */
    static void made(Object object) {
        ThreadState state = CurrentThread.fresh();
        if (state == null || state == LocalState.nowhere) {
            return;
        }
        // To record one may make others, which are not recorded.
        boolean within = state.byMachine;
        state.byMachine = true;
        try {
            HeapProxy.ObjectAlloc(object);
        } finally {
            state.byMachine = within;
        }
    }

    // ---- monitors ----

    /** Waits are recorded, from now on, once for a recording; the recorder has begun. Owners: see {@link Owners}. False: nothing is recorded. */
    static boolean startMonitors(int owners) {
        if (Recording.file == null) {
            return false;
        }
        Owners.mode = owners;
        NoteWriter.start();
        JavaThreads.on = true;
        // Every thread is to be known.
        Gate.count(1);
        Monitors.warmUp();
        Parks.parking(null);
        Parks.parked();
        Monitors.forget();
        return true;
    }
}
