import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;

/** Leaks the same objects in two ways: every third into a static map, the others into a list of a thread. */
public class Holders {
    static class Item {
        final byte[] data = new byte[500];
    }

    static class Cache {
        static final Map<Integer, Item> ENTRIES = new HashMap<>();
    }

    static class Keeper extends Thread {
        private final LinkedList<Item> jobs = new LinkedList<>();

        Keeper() {
            super("keeper-7");
            setDaemon(true);
        }

        @Override
        public synchronized void run() {
            try {
                wait();
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** Holds nothing. */
    static final List<WeakReference<Item>> SEEN = new ArrayList<>();

    static Item make() {
        Item item = new Item();
        SEEN.add(new WeakReference<>(item));
        return item;
    }

    public static void main(String[] args) throws Exception {
        Keeper keeper = new Keeper();
        keeper.start();
        for (int round = 0; round < 30; round++) {
            for (int i = 0; i < 10; i++) {
                Item[] made = {make(), make(), make()};
                Cache.ENTRIES.put(10 * round + i, made[0]);
                keeper.jobs.add(made[1]);
                keeper.jobs.add(made[2]);
            }
            System.gc();
        }
        System.out.println(Cache.ENTRIES.size() + " " + keeper.jobs.size());
    }
}
