import instrument.runtime.Clock;
import instrument.runtime.HeapProxy;
import instrument.runtime.Inside;
import instrument.runtime.ProfilerRuntime;
import instrument.runtime.Regions;
import instrument.runtime.ThreadLinks;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;

/**
 * Programs with a clock of their own. Usage: Timed CASE [ARGS]. Random calls keep figures of every context beside the recorder, by the contract of
 * the events alone, and print them: PATH and figures, one context a line; and "made", PATH (- for none), class, number and bytes of objects.
 */
public class Timed {
    /** Fewer than the recorder looks for on the stack: their constructors are not real. */
    static final int DEEPEST = 40;
    /** The method whose worst calls are kept; 0: there is none. */
    static int kept;
    /** No method that is ever entered. */
    static final int NOBODY = 90;
    static final int LAST = 91;

    static final class Figures {
        long entries;
        long exits;
        long unwinds;
        long aborted;
        long unclosed;
        long unmatched;
        long open;
        long ns;
        long least = Long.MAX_VALUE;
        long most;
        long openNs;
        double squares;

        @Override
        public String toString() {
            return entries + " " + exits + " " + unwinds + " " + aborted + " " + unclosed + " " + unmatched + " " + open + " " + ns + " "
                + least + " " + most + " " + openNs + " " + Double.doubleToRawLongBits(squares);
        }
    }

    static final class Call {
        final int id;
        final String path;
        /** Began in a pause. */
        final boolean muted;
        final long start;
        boolean pending;

        Call(int id, String path, boolean muted, boolean pending) {
            this.id = id;
            this.path = path;
            this.muted = muted;
            this.pending = pending;
            start = recorded;
        }
    }

    static final Map<String, Figures> contexts = new TreeMap<>();
    /** Number and bytes by path and class. */
    static final Map<String, long[]> made = new TreeMap<>();
    /** What the outermost open call of {@link #kept} has done so far, by path below it: entries, exits and ns; null: none is open. */
    static Map<String, long[]> did;
    static final List<String> worst = new ArrayList<>();
    /** The clock without pauses. */
    static long recorded;
    static boolean paused;
    static List<Call> stack = new ArrayList<>();

    static Figures of(String path) {
        return contexts.computeIfAbsent(path, none -> new Figures());
    }

    static void pass(long ns) {
        Clock.pass(ns);
        recorded += paused ? 0 : ns;
    }

    static void pause(boolean on) {
        paused = on;
        Inside.pause(on);
    }

    /** The context of what happens now: that of the nearest call that is recorded; null: there is none. */
    static String path() {
        for (int i = stack.size() - 1; i >= 0; i--) {
            if (!stack.get(i).muted) {
                return stack.get(i).path;
            }
        }
        return null;
    }

    static String path(int id) {
        String path = path();
        return path == null ? Integer.toString(id) : path + "/" + id;
    }

    /** A header is 16 bytes, of an array with its length; sizes are multiples of 8. */
    static void make(int what, int length) {
        Object object = what == 0 ? new Object() : what == 1 ? new byte[length] : new long[length];
        if (!paused) {
            String path = path();
            String key = (path == null ? "-" : path) + " " + object.getClass().getName();
            long[] figures = made.computeIfAbsent(key, none -> new long[2]);
            figures[0]++;
            figures[1] += what == 0 ? 16 : 16 + (what == 1 ? length + 7 & ~7 : 8 * length);
        }
        if (what == 0) {
            HeapProxy.ObjectAlloc(object);
        } else {
            HeapProxy.ArrayAlloc(object);
        }
    }

    static void enter(int id, boolean pending) {
        Call call = new Call(id, path(id), paused, pending);
        stack.add(call);
        if (!paused) {
            of(call.path).entries++;
            if (did == null && id == kept) {
                did = new TreeMap<>();
            }
            did(call, 0, 1);
        }
        if (pending) {
            ProfilerRuntime.constructorEntry(id);
        } else {
            ProfilerRuntime.methodEntry(id);
        }
    }

    /** Closes the calls from a place on; true: they are without an end of their own. */
    static void close(int from) {
        while (stack.size() > from) {
            Call call = stack.remove(stack.size() - 1);
            if (!call.muted) {
                Figures figures = of(call.path);
                if (call.pending) {
                    figures.aborted++;
                } else {
                    figures.unclosed++;
                }
                time(call, figures);
                ended(call, false, false);
            }
        }
    }

    /** Adds to what the open call of {@link #kept} does. */
    static void did(Call call, int what, long more) {
        if (did != null) {
            String path = ("/" + call.path).replaceFirst("^.*?/" + kept + "(?=/|$)", "");
            did.computeIfAbsent(path, none -> new long[3])[what] += more;
        }
    }

    /** A call has ended; it may be the one of {@link #kept}. */
    static void ended(Call call, boolean isSeen, boolean exit) {
        if (did == null || call.muted || !("/" + call.path).matches("(/(?!" + kept + "/)[0-9]+)*/" + kept)) {
            return;
        }
        if (isSeen) {
            StringBuilder line = new StringBuilder("worst " + (recorded - call.start) + " " + !exit);
            did.forEach((path, figures) -> {
                line.append(' ').append(path).append('=').append(figures[0]).append(':').append(figures[1]).append(':').append(figures[2]);
            });
            worst.add(line.toString());
        }
        did = null;
    }

    static void time(Call call, Figures figures) {
        long ns = recorded - call.start;
        did(call, 2, ns);
        figures.ns += ns;
        figures.least = Math.min(figures.least, ns);
        figures.most = Math.max(figures.most, ns);
        figures.squares += (double) ns * ns;
    }

    /** The place of the topmost call of a method that is pending, or not. */
    static int find(int id, boolean pending) {
        int at = stack.size() - 1;
        while (at >= 0 && (stack.get(at).id != id || stack.get(at).pending != pending)) {
            at--;
        }
        return at;
    }

    static void leave(int id, boolean exit) {
        int at = find(id, false);
        if (at < 0) {
            of(path(id)).unmatched++;
        } else {
            close(at + 1);
            Call call = stack.remove(at);
            if (!call.muted) {
                Figures figures = of(call.path);
                if (exit) {
                    figures.exits++;
                    did(call, 1, 1);
                } else {
                    figures.unwinds++;
                }
                time(call, figures);
                ended(call, true, exit);
            }
        }
        if (exit) {
            ProfilerRuntime.methodExit(id);
        } else {
            ProfilerRuntime.methodUnwind(id);
        }
    }

    static void superReturned(int id) {
        int at = find(id, true);
        if (at < 0) {
            of(path(id)).unmatched++;
        } else {
            close(at + 1);
            stack.get(at).pending = false;
        }
        ProfilerRuntime.superReturned(id);
    }

    static void caught(int id) {
        close(Math.max(find(id, false), find(id, true)) + 1);
        ProfilerRuntime.exceptionCaught(id);
    }

    /** What a program does next. With pauses only what a program can do: a call of a library that pauses is between two events. */
    static void step(Random random, boolean pauses) {
        Call top = stack.isEmpty() ? null : stack.get(stack.size() - 1);
        int what = random.nextInt(20);
        if (random.nextInt(4) == 0) {
            make(random.nextInt(3), random.nextInt(50));
        }
        if (stack.size() < DEEPEST && (top == null || what < 8)) {
            // Few of them, so that there is recursion; with pauses a method is on the stack once.
            int id = pauses ? 1 + 2 * stack.size() + random.nextInt(2) : 1 + random.nextInt(6);
            enter(id, random.nextInt(3) == 0);
        } else if (top == null || what < 10) {
            // Even, for CPU time; and more than an event of a trace has bits for.
            pass(2 * random.nextInt(500) + (random.nextInt(40) == 0 ? 20_000_000_000L : 0));
        } else if (what < 15 && top.pending) {
            superReturned(top.id);
        } else if (what < 15 && !top.pending) {
            leave(top.id, what < 13);
        } else if (what < 17) {
            caught(stack.get(stack.size() - 1 - random.nextInt(Math.min(3, stack.size()))).id);
        } else if (!pauses) {
            int id = random.nextInt(9) == 0 ? NOBODY : 1 + random.nextInt(6);
            if (random.nextInt(3) == 0) {
                superReturned(id);
            } else {
                leave(id, random.nextBoolean());
            }
        } else {
            pause(!paused);
        }
    }

    static void walk(Random random, int steps, boolean pauses) {
        for (int i = 0; i < steps; i++) {
            step(random, pauses);
        }
    }

    /** What the calls are that go on, when the thread's last event was: one that reads the clock. */
    static void open() {
        if (paused) {
            pause(false);
        }
        enter(LAST, false);
        pass(10);
        leave(LAST, true);
        for (Call call : stack) {
            if (!call.muted) {
                Figures figures = of(call.path);
                figures.open++;
                figures.openNs += recorded - call.start;
            }
        }
        stack = new ArrayList<>();
    }

    /** One after the other, so that the clock is that of one thread. */
    static void threads(int number, int steps, Random random) throws Exception {
        for (int i = 0; i < number; i++) {
            Thread thread = new Thread(() -> {
                walk(random, steps, false);
                open();
            }, "worker-" + i);
            thread.start();
            thread.join();
        }
    }

    static void print() {
        contexts.forEach((path, figures) -> System.out.println(path + " " + figures));
        made.forEach((key, figures) -> System.out.println("made " + key + " " + figures[0] + " " + figures[1]));
    }

    // ---- sampled times ----

    /** 1 calls 2 so many times: 16 calls take 100 ns each, the others so many. */
    static void sampled(int calls, int ns) {
        ProfilerRuntime.methodEntry(1);
        for (int i = 0; i < calls; i++) {
            ProfilerRuntime.methodEntry(2);
            Clock.pass(i < 16 ? 100 : ns);
            ProfilerRuntime.methodExit(2);
        }
        ProfilerRuntime.methodExit(1);
    }

    /** So many threads, each of which does that. */
    static void sampledThreads(int number, int calls, int ns) throws Exception {
        for (int i = 0; i < number; i++) {
            Thread thread = new Thread(() -> sampled(calls, ns), "worker-" + i);
            thread.start();
            thread.join();
        }
    }

    /** So many methods call 2, every second of them twice: many contexts with few calls, of 2 us each. */
    static void contexts(int number) {
        for (int i = 0; i < number + number / 2; i++) {
            ProfilerRuntime.methodEntry(10 + i % number);
            ProfilerRuntime.methodEntry(2);
            Clock.pass(2000);
            ProfilerRuntime.methodExit(2);
            ProfilerRuntime.methodExit(10 + i % number);
        }
    }

    /** 1 calls 2 so many times, for 100 or 300 ns each, as chance has it. Prints their sum. */
    static void mixed(Random random, int calls) {
        long sum = 0;
        ProfilerRuntime.methodEntry(1);
        for (int i = 0; i < calls; i++) {
            int ns = random.nextBoolean() ? 100 : 300;
            ProfilerRuntime.methodEntry(2);
            Clock.pass(ns);
            ProfilerRuntime.methodExit(2);
            sum += ns;
        }
        ProfilerRuntime.methodExit(1);
        System.out.println("sum " + sum);
    }

    /** A thread does this and ends; another one has seen it end. */
    static void ended(Runnable first) throws Exception {
        for (Runnable body : new Runnable[] {first, () -> leaf(9)}) {
            Thread thread = new Thread(body, "worker");
            thread.start();
            thread.join();
        }
    }

    // ---- little room ----

    /** So many threads, one after the other; each calls twenty methods of its own three times, and one that is common to all. Prints all events. */
    static void strangers(int number) throws Exception {
        for (int i = 0; i < number; i++) {
            int first = 10 + 20 * i;
            Thread thread = new Thread(() -> {
                for (int k = 0; k < 60; k++) {
                    ProfilerRuntime.methodEntry(first + k % 20);
                    ProfilerRuntime.methodExit(first + k % 20);
                }
                ProfilerRuntime.methodEntry(1);
                ProfilerRuntime.methodExit(1);
            }, "worker-" + i);
            thread.start();
            thread.join();
        }
        System.out.println("events " + 122 * number);
    }

    // ---- links ----

    static void leaf(int id) {
        ProfilerRuntime.methodEntry(id);
        ProfilerRuntime.methodExit(id);
    }

    /** A method is about to start a thread. */
    static void starting(int id, Thread thread) {
        ProfilerRuntime.methodEntry(id);
        ThreadLinks.starting(thread);
        ProfilerRuntime.methodExit(id);
    }

    /** Method 1 starts two threads, the others one each in between, which end; 1 and 2 are both about to start the one that is called twice. */
    static void links(int others) throws Exception {
        CountDownLatch recorded = new CountDownLatch(2);
        CountDownLatch end = new CountDownLatch(1);
        List<Thread> last = new ArrayList<>();
        for (int i = 0; i <= others + 2; i++) {
            boolean stays = i > others;
            Thread thread = new Thread(() -> {
                leaf(9);
                if (stays) {
                    recorded.countDown();
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            }, i == others + 1 ? "last" : i == others + 2 ? "twice" : "worker-" + i);
            starting(i > others ? 1 : 1 + i % others, thread);
            if (i == others + 2) {
                starting(2, thread);
            }
            thread.start();
            if (stays) {
                last.add(thread);
            } else {
                thread.join();
            }
        }
        recorded.await();
        end.countDown();
        for (Thread thread : last) {
            thread.join();
        }
    }

    // ---- regions ----

    /** Passages of 10, 20 (of which 5 in a pause), one that an exception leaves, and one that nobody ends. */
    static void regions() {
        Regions.begin(1);
        Clock.pass(10);
        Regions.end(1);
        Regions.begin(1);
        Clock.pass(8);
        pause(true);
        Clock.pass(5);
        pause(false);
        Clock.pass(7);
        Regions.end(1);
        Regions.begin(1);
        Clock.pass(1000);
        Regions.left(1);
        Regions.begin(1);
        Clock.pass(1000);
    }

    // ---- constructors ----

    static class Base {
        Base() {
            throw new IllegalArgumentException();
        }
    }

    /** Its super() throws. */
    static class Failing extends Base {
        Failing() {
            super();
        }
    }

    /** So many constructors fail, and no method of the stack has probes. */
    static void failing(int number) {
        for (int i = 0; i < number; i++) {
            try {
                new Entered();
            } catch (IllegalArgumentException e) {
                Clock.pass(1);
            }
        }
    }

    static class Entered extends Failing {
        Entered() {
            this(entered());
        }

        private Entered(int none) {
            super();
        }

        private static int entered() {
            ProfilerRuntime.constructorEntry(5);
            return 0;
        }
    }

    public static void main(String[] args) throws Exception {
        int[] numbers = new int[4];
        for (int i = 1; i < args.length; i++) {
            numbers[i] = Integer.parseInt(args[i]);
        }
        Random random = new Random(numbers[1]);
        switch (args[0]) {
            case "calls": walk(random, numbers[2], false); open(); print(); break;
            case "pauses": walk(random, numbers[2], true); open(); print(); break;
            case "worst":
                kept = numbers[3];
                Inside.keep(kept);
                walk(random, numbers[2], kept > 6);
                open();
                worst.forEach(System.out::println);
                break;
            case "threads": threads(numbers[2], numbers[3], random); print(); break;
            case "sampled": sampled(numbers[1], numbers[2]); break;
            case "sampled-threads": sampledThreads(numbers[1], numbers[2], numbers[3]); break;
            case "contexts": contexts(numbers[1]); break;
            case "contexts-ended": ended(() -> contexts(numbers[1])); break;
            case "mixed": mixed(random, numbers[2]); break;
            case "strangers": strangers(numbers[1]); break;
            case "links": links(numbers[1]); break;
            case "regions": regions(); break;
            case "failing": failing(numbers[1]); break;
            default: throw new IllegalArgumentException(args[0]);
        }
        System.out.println("done");
    }
}
