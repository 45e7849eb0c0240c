import instrument.runtime.HeapProxy;
import instrument.runtime.Inside;
import instrument.runtime.ProfilerRuntime;
import instrument.runtime.Regions;
import java.util.Random;
import java.util.concurrent.CountDownLatch;

/** Programs that are paused while they run. Usage: Paused CASE [ARGS]. What a case prints is the truth. */
public class Paused {
    static final int EXITS = 1;
    static final int UNWINDS = 2;
    static final int ABORTED = 3;

    static final long[][] expected = new long[20][4];
    static boolean paused;
    static long sink;

    static class Failure extends RuntimeException {
        private static final long serialVersionUID = 1;

        Failure() {
            super(null, null, false, false);
        }
    }

    static void pause(boolean on) {
        paused = on;
        Inside.pause(on);
    }

    // ---- random calls, paused anywhere ----

    /** A constructor, instrumented; its super() does the first half of the work. */
    static class Built extends Base {
        Built(Random random, int depth, int id, boolean counted) {
            super(random, depth, entered(id, counted), counted ? id : 0);
            toggle(random);
            ProfilerRuntime.superReturned(id);
            rest(random, depth, id, counted);
        }

        private static int entered(int id, boolean counted) {
            ProfilerRuntime.constructorEntry(id);
            count(counted, id, 0);
            return id;
        }
    }

    /** Not instrumented. */
    static class Base {
        Base(Random random, int depth, int id, int counted) {
            try {
                children(random, depth, 0);
                if (random == null || random.nextInt(6) == 0) {
                    throw new Failure();
                }
            } catch (Failure e) {
                count(counted != 0, id, ABORTED);
                throw e;
            }
        }
    }

    static void count(boolean counted, int id, int column) {
        if (counted) {
            expected[id][column]++;
        }
    }

    static void toggle(Random random) {
        if (random != null && random.nextInt(7) == 0) {
            pause(!paused);
        }
    }

    static void call(Random random, int depth) {
        toggle(random);
        boolean counted = !paused;
        if (random.nextInt(3) == 0) {
            HeapProxy.ObjectAlloc(new Built(random, depth, 10 + random.nextInt(3), counted));
        } else {
            int id = 2 + random.nextInt(3);
            ProfilerRuntime.methodEntry(id);
            count(counted, id, 0);
            rest(random, depth, id, counted);
        }
    }

    static void rest(Random random, int depth, int id, boolean counted) {
        try {
            children(random, depth, id);
            toggle(random);
            if (random.nextInt(6) == 0) {
                throw new Failure();
            }
            ProfilerRuntime.methodExit(id);
            count(counted, id, EXITS);
        } catch (Failure e) {
            toggle(random);
            ProfilerRuntime.methodUnwind(id);
            count(counted, id, UNWINDS);
            throw e;
        }
    }

    /** A method may catch what its callees throw; 0: nobody does. */
    static void children(Random random, int depth, int id) {
        for (int i = depth == 0 ? 0 : random.nextInt(4); i > 0; i--) {
            try {
                call(random, depth - 1);
            } catch (Failure e) {
                if (id == 0 || random.nextBoolean()) {
                    throw e;
                }
                toggle(random);
                ProfilerRuntime.exceptionCaught(id);
            }
        }
    }

    /** Beneath a method that is recorded, or one that began in a pause, or nothing. */
    static void random(long seed, String beneath) {
        Random random = new Random(seed);
        if (beneath.equals("muted")) {
            pause(true);
        }
        if (!beneath.equals("nothing")) {
            ProfilerRuntime.methodEntry(1);
            count(!paused, 1, 0);
        }
        for (int i = 0; i < 3000; i++) {
            try {
                call(random, 6);
            } catch (Failure e) {
                if (!beneath.equals("nothing")) {
                    ProfilerRuntime.exceptionCaught(1);
                }
            }
        }
        if (!beneath.equals("nothing")) {
            ProfilerRuntime.methodExit(1);
            count(beneath.equals("recorded"), 1, EXITS);
        }
        for (int id = 0; id < expected.length; id++) {
            if (expected[id][0] != 0) {
                long[] row = expected[id];
                System.out.println(id + " " + row[0] + " " + row[1] + " " + row[2] + " " + row[3]);
            }
        }
    }

    // ---- times ----

    static void work() {
        for (long end = System.nanoTime() + 20_000_000; System.nanoTime() < end;) {
            sink++;
        }
    }

    static void leaf(int id) {
        ProfilerRuntime.methodEntry(id);
        work();
        ProfilerRuntime.methodExit(id);
    }

    /** 1 calls 2, which ends in the pause; 1 ends after it. Prints the most and the least that each may take. */
    static void times() {
        long beforeOne = System.nanoTime();
        ProfilerRuntime.methodEntry(1);
        long afterOne = System.nanoTime();
        ProfilerRuntime.methodEntry(2);
        long afterTwo = System.nanoTime();
        work();
        long beforeRegion = System.nanoTime();
        Regions.begin(1);
        long beforePause = System.nanoTime();
        pause(true);
        long inPause = System.nanoTime();
        work();
        ProfilerRuntime.methodExit(2);
        leaf(3);
        Regions.begin(1);
        Regions.end(1);
        long stillInPause = System.nanoTime();
        pause(false);
        long afterPause = System.nanoTime();
        Regions.end(1);
        long afterRegion = System.nanoTime();
        leaf(4);
        ProfilerRuntime.methodExit(1);
        long end = System.nanoTime();
        System.out.println("2 " + (inPause - afterOne) + " " + (beforePause - afterTwo));
        System.out.println("1 " + (end - beforeOne - (stillInPause - inPause)) + " " + (20_000_000 + beforePause - afterOne));
        System.out.println("5 " + (inPause - beforeRegion + afterRegion - stillInPause) + " 0");
        System.out.println("0 " + (afterPause - beforePause) + " " + (stillInPause - inPause));
    }

    // ---- threads ----

    static volatile boolean over;

    /** Threads call 1 without end while another one pauses and resumes, so many seconds, and a hundred times at least. */
    static void threads(int seconds) throws Exception {
        over = false;
        final CountDownLatch started = new CountDownLatch(3);
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            final int number = i;
            threads[i] = new Thread(() -> {
                Random random = new Random(number);
                // The recording begins with the first call, which may take long: what was paused before is no part of it.
                nested(0);
                started.countDown();
                while (!over) {
                    nested(random.nextInt(10));
                }
            }, "worker-" + i);
            threads[i].start();
        }
        started.await();
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        for (int pauses = 0; pauses < 200 || System.nanoTime() < end; pauses++) {
            pause(!paused);
            Thread.sleep(1);
        }
        over = true;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    static void nested(int depth) {
        ProfilerRuntime.methodEntry(1);
        if (depth > 0) {
            nested(depth - 1);
        }
        ProfilerRuntime.methodExit(1);
    }

    /** Only what 2 calls is recorded; it is called before, in, and after a pause. */
    static void roots() {
        Inside.roots(2);
        for (int i = 0; i < 3; i++) {
            pause(i == 1);
            ProfilerRuntime.methodEntry(1);
            ProfilerRuntime.methodEntry(2);
            ProfilerRuntime.methodEntry(3);
            ProfilerRuntime.methodExit(3);
            pause(false);
            ProfilerRuntime.methodEntry(4);
            ProfilerRuntime.methodExit(4);
            ProfilerRuntime.methodExit(2);
            ProfilerRuntime.methodEntry(3);
            ProfilerRuntime.methodExit(3);
            ProfilerRuntime.methodExit(1);
        }
    }

    /** A task that ran on behalf of a link when the pause began, and one that began in it. */
    static void links() {
        ProfilerRuntime.methodEntry(1);
        Inside.enterLink(7);
        ProfilerRuntime.methodEntry(2);
        pause(true);
        Inside.linkMade(8);
        ProfilerRuntime.methodEntry(3);
        ProfilerRuntime.methodExit(2);
        Inside.leaveLink(7);
        if (Inside.enterLink(9)) {
            throw new AssertionError();
        }
        pause(false);
        ProfilerRuntime.methodEntry(4);
        ProfilerRuntime.methodExit(4);
        ProfilerRuntime.methodExit(1);
    }

    /** Nothing but constructors that fail, and nobody instrumented beneath, all in a pause: memory stays bounded. */
    static void failing(int count) {
        pause(true);
        for (int i = 0; i < count; i++) {
            try {
                new Built(null, 0, 10, false);
            } catch (Failure e) {
                sink++;
            }
        }
        pause(false);
        leaf(1);
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "random": random(Long.parseLong(args[1]), args[2]); break;
            case "times": times(); break;
            case "threads": threads(Integer.parseInt(args[1])); break;
            case "roots": roots(); break;
            case "links": links(); break;
            case "failing": failing(Integer.parseInt(args[1])); break;
            default: throw new IllegalArgumentException(args[0]);
        }
        System.out.println("done");
    }
}
