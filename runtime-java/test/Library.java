import instrument.runtime.Inside;
import instrument.runtime.ProfilerRuntime;
import java.util.Random;

/** Calls into libraries in the shape that is injected. Usage: Library CASE [ARGS]. What a case prints is the truth. */
public class Library {
    static final int EXITS = 1;
    static final int UNWINDS = 2;
    static final int ABORTED = 3;

    static final long[][] expected = new long[30][4];
    static boolean pauses;
    static boolean paused;
    /** Depth of the calls into a library that are under way: each has an id of its own, so that none is taken for another. */
    static int borrowed;
    static long sink;

    static class Failure extends RuntimeException {
        private static final long serialVersionUID = 1;

        Failure() {
            super(null, null, false, false);
        }
    }

    static void count(boolean counted, int id, int column) {
        if (counted) {
            expected[id][column]++;
        }
    }

    static void toggle(Random random) {
        if (pauses && random.nextInt(7) == 0) {
            paused = !paused;
            Inside.pause(paused);
        }
    }

    /** A method of the program. */
    static void method(Random random, int depth) {
        toggle(random);
        boolean counted = !paused;
        int id = 2 + random.nextInt(3);
        ProfilerRuntime.methodEntry(id);
        count(counted, id, 0);
        rest(random, depth, id, counted);
    }

    static void rest(Random random, int depth, int id, boolean counted) {
        try {
            body(random, depth, id);
            toggle(random);
            ProfilerRuntime.methodExit(id);
            count(counted, id, EXITS);
        } catch (Failure e) {
            toggle(random);
            ProfilerRuntime.methodUnwind(id);
            count(counted, id, UNWINDS);
            throw e;
        }
    }

    /** What a method does: it may catch what is thrown. */
    static void body(Random random, int depth, int id) {
        for (int i = depth == 0 ? 0 : random.nextInt(4); i > 0; i--) {
            try {
                switch (random.nextInt(3)) {
                    case 0: method(random, depth - 1); break;
                    case 1: new Built(random, depth - 1); break;
                    default: library(random, depth - 1);
                }
            } catch (Failure e) {
                if (random.nextBoolean()) {
                    throw e;
                }
                toggle(random);
                ProfilerRuntime.exceptionCaught(id);
            }
        }
        if (random.nextInt(8) == 0) {
            throw new Failure();
        }
    }

    /** A constructor whose super() is a library's, with a call into a library among its arguments. */
    static class Built extends Base {
        Built(Random random, int depth) {
            this(random, depth, 10 + random.nextInt(3), !paused);
        }

        private Built(Random random, int depth, int id, boolean counted) {
            super(random, depth, entered(random, depth, id, counted), counted, enter(), !paused);
            exit(!paused);
            ProfilerRuntime.superReturned(id);
            rest(random, depth, id, counted);
        }

        private static int entered(Random random, int depth, int id, boolean counted) {
            ProfilerRuntime.constructorEntry(id);
            count(counted, id, 0);
            if (depth > 0) {
                try {
                    library(random, depth - 1);
                } catch (Failure e) {
                    count(counted, id, ABORTED);
                    throw e;
                }
            }
            return id;
        }

        private static int enter() {
            int of = 20 + borrowed++;
            ProfilerRuntime.libraryEnter(of);
            count(!paused, of, 0);
            return of;
        }

        private void exit(boolean now) {
            ProfilerRuntime.libraryExit(of);
            count(wasCounted, of, EXITS);
            borrowed--;
        }
    }

    /** Not instrumented. */
    static class Base {
        final int of;
        final boolean wasCounted;

        Base(Random random, int depth, int id, boolean counted, int of, boolean ofCounted) {
            this.of = of;
            wasCounted = ofCounted;
            try {
                callBack(random, depth);
            } catch (Failure e) {
                count(ofCounted, of, UNWINDS);
                count(counted, id, ABORTED);
                borrowed--;
                throw e;
            }
        }
    }

    /** A call into a library from an instrumented method. */
    static void library(Random random, int depth) {
        toggle(random);
        boolean counted = !paused;
        int id = 20 + borrowed++;
        ProfilerRuntime.libraryEnter(id);
        count(counted, id, 0);
        try {
            callBack(random, depth);
            toggle(random);
            ProfilerRuntime.libraryExit(id);
            count(counted, id, EXITS);
        } catch (Failure e) {
            count(counted, id, UNWINDS);
            throw e;
        } finally {
            borrowed--;
        }
    }

    /** What a library does: nobody hears when it catches something. */
    static void callBack(Random random, int depth) {
        for (int i = depth <= 0 ? 0 : random.nextInt(3); i > 0; i--) {
            try {
                if (random.nextInt(3) == 0) {
                    new Built(random, depth - 1);
                } else {
                    method(random, depth - 1);
                }
            } catch (Failure e) {
                if (random.nextInt(3) != 0) {
                    throw e;
                }
            }
        }
        if (random.nextInt(6) == 0) {
            throw new Failure();
        }
    }

    static void random(long seed) {
        Random random = new Random(seed);
        ProfilerRuntime.methodEntry(1);
        count(!paused, 1, 0);
        for (int i = 0; i < 4000; i++) {
            try {
                library(random, 6);
                method(random, 6);
            } catch (Failure e) {
                ProfilerRuntime.exceptionCaught(1);
            }
        }
        ProfilerRuntime.methodExit(1);
        count(true, 1, EXITS);
        for (int id = 0; id < expected.length; id++) {
            if (expected[id][0] != 0) {
                long[] row = expected[id];
                System.out.println(id + " " + row[0] + " " + row[1] + " " + row[2] + " " + row[3]);
            }
        }
    }

    /** Nothing but constructors that fail in what they call in front of super(), and nobody instrumented beneath. */
    static void failing(int count) {
        for (int i = 0; i < count; i++) {
            ProfilerRuntime.constructorEntry(10);
            ProfilerRuntime.libraryEnter(20);
            ProfilerRuntime.libraryEnter(21);
            ProfilerRuntime.libraryExit(21);
        }
    }

    static int deep(int id) {
        ProfilerRuntime.methodEntry(1);
        try {
            ProfilerRuntime.libraryEnter(20);
            int depth = deep(id) + 1;
            ProfilerRuntime.libraryExit(20);
            ProfilerRuntime.methodExit(1);
            return depth;
        } catch (Throwable e) {
            ProfilerRuntime.methodUnwind(1);
            throw e;
        }
    }

    /** Overflows the stack in turns of methods and calls into a library. */
    static void overflow(int times) {
        for (int i = 0; i < times; i++) {
            try {
                deep(1);
            } catch (StackOverflowError e) {
                sink++;
            }
        }
    }

    /** The thread ends, and so does the program, inside a library. */
    static void open() throws Exception {
        Thread thread = new Thread(() -> {
            ProfilerRuntime.methodEntry(1);
            ProfilerRuntime.libraryEnter(20);
        });
        thread.start();
        thread.join();
        ProfilerRuntime.methodEntry(2);
        ProfilerRuntime.libraryEnter(21);
        System.out.println("done");
        System.exit(0);
    }

    /** An exit without an entry, an exit that comes twice; then the ids are used as they should. */
    static void misfits() {
        ProfilerRuntime.methodEntry(1);
        ProfilerRuntime.libraryExit(20);
        ProfilerRuntime.libraryEnter(20);
        ProfilerRuntime.libraryExit(20);
        ProfilerRuntime.libraryExit(20);
        for (int i = 0; i < 3; i++) {
            ProfilerRuntime.libraryEnter(20);
            ProfilerRuntime.exceptionCaught(1);
        }
        ProfilerRuntime.methodExit(1);
    }

    /** Recorded below 2 only, or below calls of 20. */
    static void roots(int root) {
        Inside.roots(root);
        ProfilerRuntime.methodEntry(1);
        for (int i = 0; i < 3; i++) {
            ProfilerRuntime.libraryEnter(20);
            ProfilerRuntime.methodEntry(2);
            ProfilerRuntime.libraryEnter(21);
            ProfilerRuntime.libraryExit(21);
            ProfilerRuntime.methodExit(2);
            if (i == 2) {
                ProfilerRuntime.exceptionCaught(1);
            } else {
                ProfilerRuntime.libraryExit(20);
            }
        }
        ProfilerRuntime.methodExit(1);
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "random":
                pauses = args[2].equals("pauses");
                random(Long.parseLong(args[1]));
                break;
            case "failing": failing(Integer.parseInt(args[1])); break;
            case "overflow": overflow(Integer.parseInt(args[1])); break;
            case "open": open(); break;
            case "misfits": misfits(); break;
            case "roots": roots(Integer.parseInt(args[1])); break;
            default: throw new IllegalArgumentException(args[0]);
        }
        System.out.println("done");
    }
}
