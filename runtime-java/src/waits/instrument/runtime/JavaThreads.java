package instrument.runtime;

import java.lang.ref.WeakReference;

/**
 * What the virtual machine knows of its threads, in the file by the numbers that the agent gives them. Threads that begin or end
 * have no monitors: they write themselves. A thread that was not seen to begin, as virtual ones, is met when it waits first.
 */
final class JavaThreads {
    private static final int CHUNK = 1 << 14;
    private static final int BYTES = 256;
    private static final int IN_CHUNK = (CHUNK - Format.HEADER) / BYTES;
    private static final int TEXT = 40;
    private static final int DAEMON = 1;
    private static final int VIRTUAL = 2;

    /** Threads are to be recorded. */
    static volatile boolean on;

    private static Region[] chunks = new Region[4];
    /** Numbers up to this one were given when the recording began. */
    private static int existing;
    /** How many threads were there then, and which, with their numbers. */
    private static int count;
    @SuppressWarnings({"unchecked", "rawtypes"})
    private static WeakReference<Thread>[] before = new WeakReference[16];
    private static int[] numbers = new int[16];

    private JavaThreads() {}

    /** Another recording begins. A thread keeps its number. */
    static synchronized void renew() {
        chunks = new Region[4];
        existing = 0;
        while (count > 0) {
            before[--count] = null;
        }
    }

    /** A thread that was there before the recording. False: it is one of our own. */
    static boolean existing(Thread thread, int number) {
        try {
            if (OwnThreads.isOwn(thread)) {
                return false;
            }
            synchronized (JavaThreads.class) {
                if (count == before.length) {
                    before = java.util.Arrays.copyOf(before, 2 * count);
                    numbers = java.util.Arrays.copyOf(numbers, 2 * count);
                }
                before[count] = new WeakReference<Thread>(thread);
                numbers[count++] = number;
                existing = Math.max(existing, number);
            }
            ThreadState state = null;
            if (thread == Thread.currentThread()) {
                state = CurrentThread.fresh();
                if (state != null) {
                    state.javaThread = number;
                }
            }
            NoteWriter.leave(new Facts(thread, number, 0, 0, state));
        } catch (Throwable e) {
            Recording.file.drop();
        }
        return true;
    }

    /** The current thread begins. False: it is one of our own. */
    static boolean started(Thread thread, int number) {
        long clock = Clock.now();
        try {
            if (OwnThreads.isOwn(thread)) {
                return false;
            }
            ThreadState state = CurrentThread.fresh();
            if (state == null) {
                state = CurrentThread.newState();
            }
            if (state == null || state.mode == ThreadState.BUSY) {
                return true;
            }
            int mode = state.mode;
            state.mode = ThreadState.BUSY;
            try {
                state.javaThread = number;
                if (!new Facts(thread, number, clock, ThreadLinks.starter(thread), state).write()) {
                    Recording.file.drop();
                }
            } finally {
                state.mode = mode;
            }
        } catch (Throwable e) {
            Recording.file.drop();
        }
        return true;
    }

    /** The thread of a number ends. */
    static void ended(int number) {
        long clock = Clock.now();
        try {
            synchronized (JavaThreads.class) {
                Region chunk = chunk(number);
                if (chunk != null && chunk.get(at(number)) != 0) {
                    chunk.put(at(number) + 2, clock);
                }
            }
        } catch (Throwable e) {
            Recording.complain(e);
        }
    }

    /** The current thread waits; it may have monitors. */
    static void met(ThreadState state, int number, long clock) {
        if (state.javaThread == number) {
            return;
        }
        state.javaThread = number;
        if (number > existing) {
            NoteWriter.leave(new Facts(Thread.currentThread(), number, clock, 0, state));
        } else {
            NoteWriter.leave(new Ordinal(state));
        }
    }

    /** The current thread has been given its region; called by a probe. */
    static void attached(ThreadState state) {
        if (state.javaThread == 0) {
            state.javaThread = find(Thread.currentThread());
        }
        writeOrdinal(state);
    }

    private static synchronized int find(Thread thread) {
        for (int i = count - 1; i >= 0; i--) {
            if (before[i].get() == thread) {
                return numbers[i];
            }
        }
        return 0;
    }

    private static synchronized void writeOrdinal(ThreadState state) {
        int number = state.javaThread;
        Region chunk = number == 0 ? null : chunk(number);
        if (chunk != null && chunk.get(at(number)) != 0) {
            chunk.put(at(number), (long) state.ordinal << 32 | number);
        }
    }

    private static Region chunk(int number) {
        int index = (number - 1) / IN_CHUNK;
        return index < chunks.length ? chunks[index] : null;
    }

    /** Index of a number's first word. */
    private static int at(int number) {
        return Format.HEADER_WORDS + (number - 1) % IN_CHUNK * (BYTES / 8);
    }

    /** The place of a record, made if it is not there; null: there is no room. */
    private static Region room(int number) {
        int index = (number - 1) / IN_CHUNK;
        if (index >= chunks.length) {
            chunks = java.util.Arrays.copyOf(chunks, Math.max(index + 1, 2 * chunks.length));
        }
        if (chunks[index] == null) {
            Region fresh = Recording.file.allocate(CHUNK);
            if (fresh == null) {
                return null;
            }
            fresh.publish(Format.JAVA_THREADS, 0);
            chunks[index] = fresh;
        }
        return chunks[index];
    }

    /** A thread that was met before it had a region, or before we knew that it has one. */
    private static final class Ordinal extends Note {
        private final ThreadState state;

        Ordinal(ThreadState state) {
            this.state = state;
        }

        @Override
        boolean write() {
            writeOrdinal(state);
            return true;
        }
    }

    /** A record. Only final methods are called: the others may be the program's. */
    private static final class Facts extends Note {
        private final int number;
        private final long start;
        private final int starter;
        private final int flags;
        private final String[] names = new String[3];
        /** Null: that of another thread, which cannot be asked. */
        private final ThreadState state;

        Facts(Thread thread, int number, long start, int starter, ThreadState state) {
            this.number = number;
            this.start = start;
            this.starter = starter;
            this.state = state;
            flags = (thread.isDaemon() ? DAEMON : 0) | (LocalState.isVirtual(thread) ? VIRTUAL : 0);
            names[0] = thread.getName();
            ThreadGroup group = thread.getThreadGroup();
            if (group != null) {
                names[1] = group.getName();
                ThreadGroup parent = Privileged.parent(group);
                names[2] = parent == null ? null : parent.getName();
            }
        }

        @Override
        boolean write() {
            synchronized (JavaThreads.class) {
                Region chunk = room(number);
                if (chunk == null) {
                    return false;
                }
                int at = at(number);
                if (chunk.get(at) != 0 && chunk.get(at + 1) != 0) {
                    // It was seen to begin.
                    return true;
                }
                int used = 0;
                long lengths = 0;
                for (int i = 0; i < names.length; i++) {
                    // The name may take half of the room, the rest is shared.
                    int room = i == 0 ? (BYTES - TEXT) / 2 : (BYTES - TEXT - used) / (names.length - i);
                    byte[] text = Region.utf8(names[i] == null ? "" : names[i], room);
                    chunk.put(8 * at + TEXT + used, text, text.length);
                    lengths |= (long) text.length << 16 * i;
                    used += text.length;
                }
                chunk.put(at + 1, start);
                chunk.put(at + 3, (long) flags << 32 | starter & 0xffffffffL);
                chunk.put(at + 4, lengths);
                int ordinal = state == null ? 0 : state.ordinal;
                chunk.put(at, (long) ordinal << 32 | number);
                return true;
            }
        }
    }
}
