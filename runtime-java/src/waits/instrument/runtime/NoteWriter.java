package instrument.runtime;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread of our own that writes what others leave. Who is about to wait for a monitor may have others already, even those of
 * the JDK that are needed where the file grows; so it must take no lock itself. It leaves a note, without a lock, and the
 * note writer, which has no monitor, writes it at once. Nobody waits for the note writer but the end of the process, and that not long.
 */
final class NoteWriter implements Runnable {
    /** Notes that may wait to be written; further ones are dropped, and counted. */
    private static final int MOST = 1 << 16;
    /** ns that the end of the process may take to write what is left. */
    private static final long PATIENCE = 1000000000L;

    /** The last note that was left. */
    private static final AtomicReference<Note> LEFT = new AtomicReference<Note>();
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static NoteWriter current;
    private static Thread thread;
    private volatile boolean over;

    private NoteWriter() {}

    /** To be called once for a recording, before anybody leaves a note. */
    static void start() {
        // Left when the recording before had ended.
        LEFT.set(null);
        COUNT.set(0);
        current = new NoteWriter();
        thread = OwnThreads.thread(current);
        thread.setDaemon(true);
        thread.start();
    }

    /** Leaves a note; false: there are too many, it is dropped. Takes no lock. */
    static boolean leave(Note note) {
        if (COUNT.incrementAndGet() > MOST) {
            COUNT.decrementAndGet();
            Recording.file.drop();
            return false;
        }
        Note before;
        do {
            before = LEFT.get();
            note.next = before;
        } while (!LEFT.compareAndSet(before, note));
        if (before == null) {
            LockSupport.unpark(thread);
        }
        return true;
    }

    /** The process ends: waits until all is written, or a second. */
    static void finish() {
        for (long start = Clock.now(); COUNT.get() > 0 && Clock.now() - start < PATIENCE;) {
            LockSupport.unpark(thread);
            Thread.yield();
        }
    }

    /** Nothing comes any more in this recording. */
    static void end() {
        current.over = true;
        LockSupport.unpark(thread);
        try {
            thread.join(PATIENCE / 1000000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void run() {
        // Code of the JDK that is called from here may have been rewritten.
        CurrentThread.newState().mode = ThreadState.OFF;
        while (!over) {
            Note left = LEFT.getAndSet(null);
            if (left == null) {
                rest();
                continue;
            }
            Note first = null;
            while (left != null) {
                Note before = left.next;
                left.next = first;
                first = left;
                left = before;
            }
            for (; first != null; first = first.next) {
                boolean written = false;
                try {
                    written = first.write();
                    if (written) {
                        Owners.written(first);
                    }
                } catch (Throwable e) {
                    Recording.complain(e);
                }
                if (!written) {
                    Recording.file.drop();
                }
                COUNT.decrementAndGet();
            }
        }
    }

    /** There is nothing to write. */
    private static void rest() {
        // Somebody may have interrupted all threads that there are.
        Thread.interrupted();
        long pause = 0;
        try {
            pause = Owners.ask();
        } catch (Throwable e) {
            Recording.complain(e);
        }
        // What was called here may itself have parked, and taken the permit of a note that came meanwhile.
        if (LEFT.get() != null) {
            return;
        }
        if (pause > 0) {
            LockSupport.parkNanos(pause);
        } else {
            LockSupport.park();
        }
    }
}
