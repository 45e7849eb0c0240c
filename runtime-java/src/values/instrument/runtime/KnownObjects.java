package instrument.runtime;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/** What prepared statements and batches run, and which connections have sent their request, by the objects themselves: no method of them is called, and none is kept alive. */
final class KnownObjects {
    private static final ReferenceQueue<Object> GONE = new ReferenceQueue<Object>();
    private static Entry[] table = new Entry[256];
    private static int count;

    private KnownObjects() {}

    private static final class Entry extends WeakReference<Object> {
        final int hash;
        volatile Value value;
        /** It is what was added to a batch since that ran last. */
        volatile boolean isBatch;
        volatile Entry next;

        Entry(Object statement, int hash) {
            super(statement, GONE);
            this.hash = hash;
        }
    }

    /** What a statement runs; a batch is over then. */
    static Value value(Object statement, boolean isBatch) {
        Entry entry = find(table, statement);
        if (entry == null) {
            // The table may have been replaced meanwhile.
            synchronized (GONE) {
                entry = find(table, statement);
            }
        }
        Value value = entry == null ? null : entry.value;
        if (value == null) {
            return ValueKind.SQL.unknown;
        }
        if (isBatch && entry.isBatch) {
            entry.value = null;
        }
        return value;
    }

    /** Whether it is the first time that somebody asks for this object. */
    static boolean isFirst(Object connection) {
        if (find(table, connection) != null) {
            return false;
        }
        synchronized (GONE) {
            boolean isFirst = find(table, connection) == null;
            if (isFirst) {
                add(connection);
            }
            return isFirst;
        }
    }

    /** A statement was prepared, or one was added to its batch. */
    static void put(Object statement, Value value, boolean isBatch) {
        synchronized (GONE) {
            Entry entry = find(table, statement);
            if (entry == null) {
                entry = add(statement);
            }
            entry.value = isBatch && entry.value != null && entry.value != value ? ValueNames.mixed() : value;
            entry.isBatch = isBatch;
        }
    }

    private static Entry find(Entry[] table, Object statement) {
        int hash = System.identityHashCode(statement);
        Entry entry = table[hash & table.length - 1];
        while (entry != null && (entry.hash != hash || entry.get() != statement)) {
            entry = entry.next;
        }
        return entry;
    }

    private static Entry add(Object statement) {
        for (Reference<?> gone; (gone = GONE.poll()) != null;) {
            remove((Entry) gone);
        }
        if (count >= table.length) {
            Entry[] more = new Entry[2 * table.length];
            for (Entry first : table) {
                for (Entry entry = first, following; entry != null; entry = following) {
                    following = entry.next;
                    link(more, entry);
                }
            }
            table = more;
        }
        Entry entry = new Entry(statement, System.identityHashCode(statement));
        link(table, entry);
        count++;
        return entry;
    }

    private static void link(Entry[] table, Entry entry) {
        int at = entry.hash & table.length - 1;
        entry.next = table[at];
        table[at] = entry;
    }

    private static void remove(Entry gone) {
        int at = gone.hash & table.length - 1;
        Entry before = null;
        for (Entry entry = table[at]; entry != null; before = entry, entry = entry.next) {
            if (entry == gone) {
                if (before == null) {
                    table[at] = gone.next;
                } else {
                    before.next = gone.next;
                }
                count--;
                return;
            }
        }
    }
}
