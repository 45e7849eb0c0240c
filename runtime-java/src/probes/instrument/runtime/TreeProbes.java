package instrument.runtime;

/**
 * The probes of a calling context tree. HotSpot does not make them a part of the methods that have probes, but calls them: their code is so large that a program with
 * thousands of hot methods would no longer fit the processor's caches.
 *
 * <p>HotSpot makes no method a part of its callers that has more than 325 bytes of code (its flag {@code FreqInlineSize}). So each of these has as many, in the table of a
 * switch that is never reached, since no id is negative.
 */
final class TreeProbes {
    /** Whether a tree is recorded. A constant to the compiler, since it belongs to a class that is set up when the settings have been read. */
    static final boolean USED = Recording.recordsTree;

    // The rarer events but that of a constructor's call: an entry needs more stack than all others (see StackReserve), so none may be compiled together with one.
    static final int SUPER_RETURNED = 1;
    static final int UNWIND = 2;
    static final int CAUGHT = 3;

    private TreeProbes() {}

    /** Before any probe looks at this class. Of several recordings the first one decides. */
    static void setUp() {}

    static void entry(int id) {
        if (id >= 0) {
            Probes.entry(id);
            return;
        }
        switch (id) {
            case -1: case -5: case -9: case -13: case -17: case -21: case -25: case -29: case -33: case -37: case -41:
            case -45: case -49: case -53: case -57: case -61: case -65: case -69: case -73: case -77: case -81: return;
            default:
        }
    }

    static void constructor(int id) {
        if (id >= 0) {
            Probes.constructor(id);
            return;
        }
        switch (id) {
            case -1: case -5: case -9: case -13: case -17: case -21: case -25: case -29: case -33: case -37: case -41:
            case -45: case -49: case -53: case -57: case -61: case -65: case -69: case -73: case -77: case -81: return;
            default:
        }
    }

    static void exit(int id) {
        if (id >= 0) {
            Probes.exit(id);
            return;
        }
        switch (id) {
            case -1: case -5: case -9: case -13: case -17: case -21: case -25: case -29: case -33: case -37: case -41:
            case -45: case -49: case -53: case -57: case -61: case -65: case -69: case -73: case -77: case -81: return;
            default:
        }
    }

    static void other(int id, int event) {
        if (id >= 0) {
            if (event == SUPER_RETURNED) {
                Probes.constructed(id);
            } else if (event == UNWIND) {
                Probes.unwind(id);
            } else {
                Probes.caught(id);
            }
            return;
        }
        switch (id) {
            case -1: case -5: case -9: case -13: case -17: case -21: case -25: case -29: case -33: case -37: case -41:
            case -45: case -49: case -53: case -57: case -61: case -65: case -69: case -73: case -77: case -81: return;
            default:
        }
    }
}
