package instrument.runtime;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Keeps the worst calls of the methods whose durations are kept, each with all that it did. Nothing is added to the probes of other methods:
 *
 * <ol>
 * <li>The tree of the thread counts as it always does, and has every call. So it is the whole, whatever happens to the worst calls.
 * <li>Each context of such a method has a {@link CallImage} of what is beneath it.
 * <li>When a call ends that took no longer than the worst ones of its method did, the image is made to agree with the tree again.
 * <li>Otherwise their difference is what the call did. It becomes a region of the file that readers see once all of it is there, and then the call that was the least bad
 * one until then loses its region: {@link WorstOf}.
 * </ol>
 *
 * A call may also be drawn at random, however long it took: what such calls did is what is typical. It is kept in the same way.
 *
 * <p>What is left of the tree without the worst calls is the rest, exactly: readers subtract.
 */
final class WorstCalls {
    /** Nodes that images of a process may have, each in every image that it is in: 16 MB of the heap. */
    private static final int MOST = 250000;
    /** What an image without nodes takes of the heap, in nodes. */
    private static final int IMAGE = 8;
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;
    private static final AtomicInteger MADE = new AtomicInteger();

    private final Words words;
    private CallImage[] images = new CallImage[4];
    private int count;
    /** By number of a node, which image is the nearest that has it. */
    private IntTable nearest = new IntTable();
    private final WorstCall call = new WorstCall();
    private int made;
    /** What {@link #draw} made its last number of; 0: it made none. */
    private long drawn;

    WorstCalls(Words words) {
        this.words = words;
    }

    /** Another recording begins. */
    static void renew() {
        MADE.set(0);
        WorstOf.renew();
    }

    /** A node has been made; {@code kept}: durations of its calls are kept. */
    void made(int node, long key, boolean kept) {
        int caller = (int) (key >>> 32);
        int number = nearest.get(caller);
        for (CallImage image = images[number]; image != null; image = image.outer) {
            if (MADE.get() >= MOST) {
                image.isPart = true;
            } else {
                MADE.incrementAndGet();
                made++;
                image.add(node, caller);
            }
        }
        if (kept && MADE.get() < MOST) {
            MADE.addAndGet(IMAGE);
            made += IMAGE;
            if (++count == images.length) {
                images = Arrays.copyOf(images, 2 * count);
            }
            images[count] = new CallImage(node, images[number], WorstOf.method((int) key - 1), words);
            number = count;
        }
        if (number != 0) {
            nearest.put(node, number);
        }
    }

    /** Contexts that were there before are of such methods now: {@link #made} makes all images anew. */
    void clear() {
        release();
        made = 0;
        count = 0;
        images = new CallImage[4];
        nearest = new IntTable();
    }

    /** All images are made. */
    void cleared() {
        for (int i = 1; i <= count; i++) {
            images[i].renew();
        }
    }

    /** A call of this context is open: what it does is not known. */
    void isOpen(int node) {
        CallImage image = images[nearest.get(node)];
        if (image != null && image.root == node) {
            image.disturbed();
        }
    }

    /** A call begins that has no context of its own: this is the nearest one beneath which it is. */
    void deeper(int node) {
        // What an image is marked for, those around it are marked for as well.
        for (CallImage image = images[nearest.get(node)]; image != null && !image.hasDeeper; image = image.outer) {
            image.hasDeeper = true;
        }
    }

    /** A call of a context has ended; ns -1: how long it took is not known. Gives the ns that it took to keep it. */
    long ended(ThreadState thread, int node, long ns, boolean failed, long end) {
        CallImage image = images[nearest.get(node)];
        if (image == null || image.root != node) {
            // A thread on trial.
            return 0;
        }
        long took = 0;
        if (ns >= 0) {
            if (ns > image.worst.least) {
                took += keep(thread, image, image.worst, ns, ns, failed, end);
            }
            long draw = draw(end);
            if (draw > image.worst.drawn.least) {
                took += keep(thread, image, image.worst.drawn, draw, ns, failed, end);
            }
        }
        image.hasDeeper = false;
        image.renew();
        return took;
    }

    /** A number above 0 for a call that ended at this moment: see SplittableRandom. */
    private long draw(long end) {
        drawn = drawn == 0 ? end : drawn + GOLDEN;
        long mixed = (drawn ^ drawn >>> 30) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
        return (mixed ^ mixed >>> 31) >>> 1 | 1;
    }

    private long keep(ThreadState thread, CallImage image, WorstOf of, long key, long ns, boolean failed, long end) {
        int before = thread.mode;
        thread.mode = ThreadState.BUSY;
        long began = Clock.now();
        try {
            StackLevels.need(StackLevels.OF_FILE);
            boolean isKnown = image.isNext();
            image.tell(call);
            if (!isKnown) {
                call.forget();
            }
            boolean isPart = !isKnown || image.isPart || image.hasDeeper;
            long flags = (words.get(TreeNodes.place(image.root)) & 0xffffffffL) | (failed ? Format.WORST_FAILED : 0) | (isPart ? Format.WORST_PART : 0);
            of.take(key, call, ns, end, flags, thread.ordinal);
            return Clock.now() - began;
        } catch (StackOverflowError e) {
            return 0;
        } finally {
            thread.mode = before;
        }
    }

    /** Open calls have moved to other contexts. */
    void disturbed() {
        for (int i = 1; i <= count; i++) {
            images[i].disturbed();
        }
    }

    void release() {
        MADE.addAndGet(-made);
    }
}
