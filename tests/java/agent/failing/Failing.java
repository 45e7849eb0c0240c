package failing;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;

/**
 * Not recorded: has {@link Parts} do at random what it can, catches or lets through what they throw, and keeps itself which contexts there are and how often they were entered.
 * Prints them: number, then the path. Of {@code idle N} there are two failures, and N ms of work after each that is not recorded.
 */
public class Failing {
    static class Failure extends RuntimeException {
        Failure() {
            super("fails", null, false, false);
        }
    }

    private static final Random RANDOM = new Random(7);
    private static final List<String> PATH = new ArrayList<String>();
    private static final TreeMap<String, Integer> CALLS = new TreeMap<String, Integer>();
    private static final String[] TEXTS = {null, "", "text", "text"};
    private static int failures;

    public static void main(String[] arguments) {
        if (arguments[0].equals("idle")) {
            idle(Long.parseLong(arguments[1]));
            return;
        }
        int least = Integer.parseInt(arguments[0]);
        while (failures < least) {
            try {
                act(0);
            } catch (Failure e) {
                // The next one.
            }
            PATH.clear();
        }
        for (String path : CALLS.keySet()) {
            System.out.println(CALLS.get(path) + " " + path);
        }
        System.out.println("failures " + failures);
    }

    private static void idle(long ms) {
        try {
            new Parts.Base(Integer.MAX_VALUE);
        } catch (Failure e) {
            work(ms);
        }
        try {
            new Parts.Derived(Integer.MAX_VALUE, false);
        } catch (Failure e) {
            work(ms);
        }
        Parts.plain(0);
    }

    private static void work(long ms) {
        for (long end = System.nanoTime() + 1000000 * ms; System.nanoTime() < end;) {
            // Time and CPU time pass.
        }
    }

    static Object in(String name) {
        PATH.add(name);
        String path = String.join(" ", PATH);
        CALLS.put(path, CALLS.containsKey(path) ? CALLS.get(path) + 1 : 1);
        return null;
    }

    static int inAt(String name, int value) {
        in(name);
        return value;
    }

    static Object inAndAct(String name, int level) {
        in(name);
        calls(level);
        return null;
    }

    static void out(String name) {
        caught(name);
        PATH.remove(PATH.size() - 1);
    }

    static void caught(String name) {
        truncate(PATH.lastIndexOf(name) + 1);
    }

    private static void truncate(int length) {
        while (PATH.size() > length) {
            PATH.remove(PATH.size() - 1);
        }
    }

    /** A few calls, and perhaps a failure. */
    static void act(int level) {
        calls(level);
        if (level == Integer.MAX_VALUE || level > 0 && RANDOM.nextInt(4) == 0) {
            failures++;
            throw new Failure();
        }
    }

    private static void calls(int level) {
        int length = PATH.size();
        for (int calls = level > 5 ? 0 : RANDOM.nextInt(3); calls > 0; calls--) {
            boolean here = RANDOM.nextInt(3) > 0;
            try {
                call(level + 1);
            } catch (Failure e) {
                if (!here) {
                    throw e;
                }
            } catch (NullPointerException e) {
                failures++;
            } catch (IllegalArgumentException e) {
                failures++;
            } catch (StringIndexOutOfBoundsException e) {
                failures++;
            }
            truncate(length);
        }
    }

    private static void call(int level) {
        switch (RANDOM.nextInt(11)) {
            case 0:
                new Parts.Base(level);
                break;
            case 1:
                new Parts.Derived(level);
                break;
            case 2:
                new Parts.Derived(level, true);
                break;
            case 3:
                new Parts.Listed(RANDOM.nextInt(2) - 1);
                break;
            case 4:
                in("failing.Parts$Sized.<init>(Ljava/lang/String;)V");
                new Parts.Sized(RANDOM.nextInt(3) == 0 ? "text" : null);
                break;
            case 5:
                Parts.catching(level);
                break;
            case 6:
                Parts.making(level);
                break;
            case 7:
                in("failing.Parts$Checked.<init>(Ljava/lang/String;I)V");
                new Parts.Checked(TEXTS[RANDOM.nextInt(4)], level);
                break;
            case 8:
                Parts.noted(level);
                break;
            default:
                Parts.plain(level);
        }
    }
}
