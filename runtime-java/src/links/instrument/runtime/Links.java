package instrument.runtime;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * The links that one thread has made: from one of its contexts to work in other threads. A context has one link of each
 * kind, however often it is used; in a trace every use has its own. Tasks that are handed over on behalf of one link by the same methods have one,
 * whichever threads do it, and so have those of a method that calls itself: the work is the same.
 *
 * <p>Where tasks hand over tasks like themselves, each level has a link, down to {@link #DEEP}. From there on, and where there are {@link #MANY}, such a
 * task stays with the link that the like of it had, so that there is an end to them.
 *
 * <p>The links of all threads are numbered together. A number is given again when nothing in the file refers to it any more:
 * the thread that made it was folded into the ended ones, and so was every thread that it started. Numbers of tasks stay,
 * for they are in the trees of the threads that ran them; there is an end to them.
 */
final class Links {
    // Kinds.
    static final int START = 1;
    static final int HAND_OVER = 2;
    /** A remote call was made; in a trace only. */
    static final int REMOTE_CALL = 3;
    /** Remote calls are served. */
    static final int SERVED = 4;
    /** The virtual machine loads a class. */
    static final int CLASS_LOADING = 5;
    /** It links an invokedynamic instruction, or a constant that is computed. */
    static final int DYNAMIC_LINKING = 6;
    /** A part of the program with a name of its own: see {@link Boundaries}. */
    static final int BOUNDARY = 7;
    /** A call that began before the recording: see {@link Running}. */
    static final int RUNNING = 8;

    /** Most links at one time, and most in a trace, whose events have 26 bits for the number. */
    private static final int MOST = 1 << 16;
    private static final int MOST_TRACED = (1 << Format.NUMBER_BITS) - 1;
    /** From so many links above one another on, and so many in all, tasks stay with the link of their like. */
    private static final int DEEP = 128;
    private static final int MANY = 10000;
    /** In the number of a link of a thread: another one made it. */
    private static final int FOREIGN = 1 << 30;
    private static final int CHUNK = 4096;
    private static final int LINKS_IN_CHUNK = (CHUNK - Format.HEADER) / (8 * Format.LINK_WORDS);
    /** In the place of the number of users: for ever. */
    private static final int KEPT = 1 << 30;

    private static final Object LOCK = new Object();
    private static Region[] chunks = new Region[4];
    private static int last;
    /** By number: the thread that made it counts as one, if it was not folded, and every thread that it started. */
    private static int[] users = new int[64];
    private static int[] free = new int[16];
    private static int freeCount;
    private static boolean full;
    /** By number, of those that hand over in a tree: where. */
    private static Origin[] origins = new Origin[64];
    /** Those of them that are below others. */
    private static final Map<Origin, Integer> SHARED = new HashMap<Origin, Integer>();

    /** Keys of this thread's links, 0 where there is none: node, and one bit for the kind. */
    private int[] keys = new int[8];
    private int[] numbers = new int[8];
    private int count;

    /** The number of a link from the topmost context of a thread, which is BUSY; 0: there is no room. */
    static int make(ThreadState state, int kind) {
        if (Recording.settings.record == Settings.TRACE) {
            synchronized (LOCK) {
                return last < MOST_TRACED ? write(next(), kind, 0, state.ordinal, Clock.now()) : none();
            }
        }
        int node = state.contextNode();
        Links links = of(state);
        if (links == null) {
            links = new Links();
            state.links = links;
        }
        return links.of(state, node, kind);
    }

    /** The number of a link that calls from other processes are served under; 0: there is no room. */
    static int serve() {
        return unmade(SERVED);
    }

    /** The number of a link that no thread makes, kept for ever; 0: there is no room. */
    static int unmade(int kind) {
        synchronized (LOCK) {
            if (last - freeCount >= MOST) {
                return none();
            }
            int number = write(freeCount > 0 ? free[--freeCount] : next(), kind, 0, 0, 0);
            if (number != 0) {
                users[number] = KEPT;
            }
            return number;
        }
    }

    private static Links of(ThreadState state) {
        return (Links) state.links;
    }

    /** As {@link #make}, if the link is there already; else 0. */
    static int known(ThreadState state, int kind) {
        Links links = of(state);
        return links == null ? 0 : links.known(state.contextNode(), kind);
    }

    private int known(int node, int kind) {
        int key = node << 1 | kind - 1;
        for (int i = hash(key);; i++) {
            int found = keys[i & keys.length - 1];
            if (found == key || found == 0) {
                return numbers[i & keys.length - 1] & ~FOREIGN;
            }
        }
    }

    private int of(ThreadState state, int node, int kind) {
        int number = known(node, kind);
        if (number != 0) {
            return number;
        }
        Origin origin = kind == HAND_OVER ? state.origin(node) : null;
        int at = origin == null ? node : origin.node;
        number = at == node ? 0 : known(at, kind);
        if (number == 0) {
            synchronized (LOCK) {
                int like = origin == null ? 0 : like(origin);
                number = like == 0 ? make(at, kind, state.ordinal, origin) : like | FOREIGN;
            }
            if (number == 0) {
                return 0;
            }
            put(at, kind, number);
        }
        if (at != node) {
            put(node, kind, number | FOREIGN);
        }
        return number & ~FOREIGN;
    }

    /** Under the lock. */
    private static int make(int node, int kind, int ordinal, Origin origin) {
        if (last - freeCount >= MOST) {
            return none();
        }
        int number = write(freeCount > 0 ? free[--freeCount] : next(), kind, node, ordinal, 0);
        if (number != 0) {
            users[number] = kind == HAND_OVER ? KEPT : 1;
            if (origin != null) {
                know(origin, number);
            }
        }
        return number;
    }

    private static void know(Origin origin, int number) {
        if (number >= origins.length) {
            origins = Arrays.copyOf(origins, users.length);
        }
        origins[number] = origin;
        Origin above = above(origin);
        if (above != null) {
            origin.links = above.links + 1;
            SHARED.put(origin, number);
        }
    }

    /** Where the link was made below which a task is handed over; null: none is, or none that a task has. */
    private static Origin above(Origin origin) {
        return origin.link < origins.length ? origins[origin.link] : null;
    }

    /** The link of what was handed over in the same place already; 0: there is none. Under the lock. */
    private static int like(Origin origin) {
        Origin above = above(origin);
        if (above == null) {
            return 0;
        }
        Integer same = SHARED.get(origin);
        if (same != null) {
            return same;
        }
        if (above.links < DEEP && last - freeCount < MANY) {
            return 0;
        }
        int link = origin.link;
        for (; above != null && !above.isLike(origin); above = above(above)) {
            link = above.link;
        }
        return above == null ? 0 : link;
    }

    private void put(int node, int kind, int number) {
        if (2 * (count + 1) > keys.length) {
            grow();
        }
        insert(node << 1 | kind - 1, number);
        count++;
    }

    private static int hash(int key) {
        return key * 0x9E3779B9 >>> 16;
    }

    private void insert(int key, int number) {
        int i = hash(key) & keys.length - 1;
        while (keys[i] != 0) {
            i = i + 1 & keys.length - 1;
        }
        keys[i] = key;
        numbers[i] = number;
    }

    private void grow() {
        int[] oldKeys = keys;
        int[] oldNumbers = numbers;
        keys = new int[2 * oldKeys.length];
        numbers = new int[keys.length];
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldKeys[i] != 0) {
                insert(oldKeys[i], oldNumbers[i]);
            }
        }
    }

    // ---- the file; under the lock ----

    private static int none() {
        if (!full) {
            full = true;
            Log.say("no more links between threads: there are " + last);
        }
        return 0;
    }

    /** A number that was never given; 0: there is no room. */
    private static int next() {
        int chunk = last / LINKS_IN_CHUNK;
        if (chunk == chunks.length) {
            chunks = Arrays.copyOf(chunks, 2 * chunk);
        }
        if (chunks[chunk] == null) {
            Region region = Recording.file.allocate(CHUNK);
            if (region == null) {
                return 0;
            }
            region.publish(Format.LINKS, 0);
            chunks[chunk] = region;
        }
        if (last + 1 == users.length) {
            users = Arrays.copyOf(users, 2 * users.length);
        }
        return ++last;
    }

    private static int write(int number, int kind, int node, int ordinal, long clock) {
        if (number != 0) {
            place(number, node, ordinal);
            Region chunk = chunks[(number - 1) / LINKS_IN_CHUNK];
            int at = at(number);
            chunk.put(at + 2, clock);
            chunk.put(at, (long) kind << 32 | number);
        }
        return number;
    }

    private static void place(int number, int node, int ordinal) {
        chunks[(number - 1) / LINKS_IN_CHUNK].put(at(number) + 1, (long) ordinal << 32 | node);
    }

    private static int at(int number) {
        return Format.HEADER_WORDS + (number - 1) % LINKS_IN_CHUNK * Format.LINK_WORDS;
    }

    // ---- life ----

    /** Another recording begins. */
    static void renew() {
        synchronized (LOCK) {
            chunks = new Region[4];
            last = 0;
            users = new int[64];
            free = new int[16];
            freeCount = 0;
            full = false;
            origins = new Origin[64];
            SHARED.clear();
        }
    }

    /** One more thread refers to a link that starts threads. */
    static void use(int number) {
        synchronized (LOCK) {
            users[number]++;
        }
    }

    /** One fewer. */
    static void disuse(int number) {
        synchronized (LOCK) {
            if (--users[number] == 0) {
                if (freeCount == free.length) {
                    free = Arrays.copyOf(free, 2 * freeCount);
                }
                free[freeCount++] = number;
            }
        }
    }

    /** A thread was folded: its nodes became those of the sum with this ordinal, or none if there are no nodes. */
    static void folded(ThreadState state, IntTable nodes, int ordinal) {
        Links links = of(state);
        state.links = null;
        if (links != null) {
            for (int i = 0; i < links.keys.length; i++) {
                int number = links.numbers[i];
                if (number != 0 && (number & FOREIGN) == 0) {
                    synchronized (LOCK) {
                        place(number, nodes == null ? 0 : nodes.get(links.keys[i] >>> 1), ordinal);
                    }
                    disuse(number);
                }
            }
        }
        if (state.link != 0) {
            disuse(state.link);
            state.link = 0;
        }
    }
}
