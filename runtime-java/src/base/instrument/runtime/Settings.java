package instrument.runtime;

import java.io.InputStream;
import java.util.Locale;
import java.util.Properties;

/**
 * What the user chose: system property {@code instrument.KEY}, then environment variable {@code INSTRUMENT_KEY}, then
 * {@code META-INF/instrument/runtime.properties} (plain KEY), which the rewriter puts beside the runtime.
 */
final class Settings {
    static final int OFF = 0;
    static final int COUNTS = 1;
    static final int TREE = 2;
    static final int TRACE = 3;
    /** Whole stacks, which the agent samples: no probe records anything. */
    static final int SAMPLES = 4;
    /** A trace grows with every call: without a limit a program that goes on fills the disk. */
    private static final long TRACE_LIMIT = 4L << 30;
    private static final String[] RECORD = {"off", "counts", "tree", "trace", "samples"};
    /** The largest number N of every:N: a node has as many bits for the next one, see {@link Format#CALL_BITS}. */
    static final int MAX_SAMPLED = 1 << Format.CALL_BITS - 2;
    /** Value of {@link #sampled}: as many calls are timed as their length allows, see {@link TreeState}. */
    static final int AUTO = 0;

    /** ms of the longest period of bursts. */
    private static final long LONGEST_PERIOD = 3600000;

    // Known before any settings are read.
    /** Classes are rewritten as they load: a program is waiting to start while anything is done at the first event. */
    static boolean underAgent;
    /** What the agent says of itself, as lines of KEY=VALUE: what is inserted where, the names of the code regions, and what of the heap is recorded. Null: there is no agent. */
    static volatile String agentLines;
    /** What the agent says of its sampler, as lines of properties; null: there is none. */
    static String agentSampler;
    /** What was inserted where in the JDK's classes in its module image; null: they were not rewritten there. */
    static volatile String imageSelection;

    static final String RESOURCE = "META-INF/instrument/runtime.properties";

    /** First part of the default file name. */
    final String name;
    /** What the user calls the process; null: nothing. */
    final String called;
    /** What the process belongs to: service=shop,build=abc; null: nothing. */
    final String labels;
    /** A file or a directory; null: the working directory. */
    final String out;
    /** One of the constants. */
    final int record;
    /** The file grows no larger than this many bytes. */
    final long limit;
    /** One call in so many is timed, after the first ones of its context; 1: all are; {@link #AUTO}. */
    final int sampled;
    /** Times come from {@link Samples}. */
    final boolean samples;
    /** CPU time is recorded, too. */
    final boolean cpu;
    /** Frames deeper than this are not contexts of their own. */
    final int depth;
    /** Contexts that a thread may have. */
    final int contexts;
    /** Up to so many threads keep rows of their own after they ended. */
    final int keptThreads;
    /** The agent records every object. */
    final boolean biographies;
    /** Of each kind so many values are told apart: see {@link ValueNames}. */
    final int mostValues;
    /** A request by HTTP without a {@code traceparent} header gets one. */
    final boolean propagate;
    /** Sizes of objects are recorded. */
    final boolean sizes;
    /** Sizes of all classes, even if that loads the classes of their fields. */
    final boolean allSizes;
    /** Patterns of the root methods; null: everything is recorded. */
    final String roots;
    /** Patterns of the methods whose durations are kept, with thresholds: see {@link Kept}; null: none are. */
    final String latency;
    /** Passages of a code region that are kept; the newest replaces the oldest. */
    final int ring;
    /** ms that the calibration may take; 0: there is none. */
    final int calibrate;
    /** The jar has a launcher agent, which should have been started. */
    final boolean launcher;
    /** Seconds between two beats of the clock in the file; 0: there are none. */
    final int snapshot;

    /** Recording is on for this many ms of every {@link #period}, and paused otherwise; 0: always. */
    final long burst;
    /** ms. */
    final long period;

    private final Properties defaults = new Properties();

    /** Reads everything. May run code of the program's class loader, so the caller holds no lock. */
    Settings() {
        try {
            ClassLoader loader = Settings.class.getClassLoader();
            InputStream in = loader == null
                ? ClassLoader.getSystemResourceAsStream(RESOURCE)
                : loader.getResourceAsStream(RESOURCE);
            if (in != null) {
                try {
                    defaults.load(in);
                } finally {
                    in.close();
                }
            }
        } catch (Exception e) {
            Log.say("cannot read " + RESOURCE + ": " + e);
        }
        // The agent gives a file a name, too, if nobody else does.
        String chosen = underAgent && imageSelection == null ? find("called") : outside("name");
        called = chosen == null || chosen.isEmpty() ? null : chosen;
        String given = find("name");
        name = given == null || given.isEmpty() || given.indexOf('/') >= 0 || given.indexOf('\\') >= 0 ? "java" : given;
        labels = find("labels");
        String target = find("out");
        out = target == null || target.isEmpty() ? null : target;
        record = readRecord(find("record"));
        limit = readLimit(find("limit"), record == TRACE ? TRACE_LIMIT : Long.MAX_VALUE);
        cpu = record == TREE && "true".equals(find("cpu"));
        String timing = find("timing");
        samples = readsSamples(timing, record, cpu);
        sampled = samples || record != TREE ? 1 : readTiming(timing, cpu);
        depth = readNumber("depth", 2000, 1, 1 << 20);
        contexts = readNumber("contexts", 1000000, 1, 1 << 22);
        keptThreads = readNumber("keep-threads", 256, 0, 1 << 20);
        mostValues = readNumber("most-values", 1000, 1, 1 << 20);
        String header = find("propagate");
        propagate = "on".equals(header) || "true".equals(header);
        biographies = "objects".equals(find("heap"));
        sizes = biographies || record == TREE || record == TRACE;
        allSizes = "all".equals(find("sizes"));
        calibrate = "off".equals(find("calibrate")) || record == COUNTS || record == SAMPLES || samples ? 0 : readNumber("calibrate", 100, 0, 10000);
        String rootList = find("roots");
        roots = rootList == null || rootList.isEmpty() ? null : rootList;
        String latencyList = record == TREE ? find("latency-of") : null;
        latency = latencyList == null || latencyList.isEmpty() ? null : latencyList;
        launcher = "true".equals(defaults.getProperty("launcher"));
        ring = readNumber("ring", 1020, 1, 1 << 20);
        snapshot = readNumber("snapshot", 0, 0, 1 << 20);
        long[] bursts = readBurst(find("burst"));
        burst = bursts[0];
        period = bursts[1];
    }

    private String find(String key) {
        String given = outside(key);
        String value = given == null ? defaults.getProperty(key) : given;
        return value == null ? null : value.trim();
    }

    /** What system property or environment say. */
    static String outside(String key) {
        try {
            String value = System.getProperty("instrument." + key);
            if (value == null) {
                value = System.getenv("INSTRUMENT_" + key.toUpperCase(Locale.ROOT).replace('-', '_'));
            }
            if (value != null) {
                return value.trim();
            }
        } catch (SecurityException e) {
            // A security manager hides it: the defaults are what is left.
        }
        return null;
    }

    /** The logarithm of a power of two. */
    static int log2(int power) {
        return 31 - Integer.numberOfLeadingZeros(power);
    }

    /** The word for which calls are timed. */
    String timing() {
        return samples ? "samples" : sampled == AUTO ? "auto" : sampled == 1 ? "all" : "every:" + sampled;
    }

    /** The word for what is recorded. */
    String recorded() {
        return RECORD[record];
    }

    private static int readRecord(String value) {
        if (value == null) {
            return TREE;
        }
        for (int i = 0; i < RECORD.length; i++) {
            if (RECORD[i].equals(value) && (i != SAMPLES || underAgent)) {
                return i;
            }
        }
        Log.say("unknown instrument.record=" + value + " (tree, trace, counts or off; under the agent samples, too); recording a tree");
        return TREE;
    }

    /** Whether times come from samples: if the agent samples, unless something else is asked for; without the agent those of a tree, if that is asked for. */
    private static boolean readsSamples(String value, int record, boolean cpu) {
        boolean asked = value != null && value.equals("samples");
        String hindrance = record != TREE && record != COUNTS ? "is for instrument.record=tree or counts"
            : cpu ? "excludes instrument.cpu=true, which reads the CPU time at every call"
            : agentSamples() ? null
            : record == COUNTS ? "needs the agent where counts are recorded"
            : !tellsCpuTime() ? "needs the module java.management" : null;
        if (asked && hindrance != null) {
            Log.say("instrument.timing=samples " + hindrance + "; it has no effect");
        }
        return (asked || value == null && agentSamples()) && hindrance == null;
    }

    /** Whether the agent has a sampler: else it is a thread of the recorder. */
    static boolean agentSamples() {
        return agentSampler != null;
    }

    /** Whether this Java can tell the CPU time of threads: java.management may be absent. Loads as little of it as can be. */
    private static boolean tellsCpuTime() {
        try {
            Class.forName("java.lang.management.ManagementFactory", false, null);
            return true;
        } catch (ClassNotFoundException | LinkageError | SecurityException e) {
            return false;
        }
    }

    /** CPU time is read at every call: then all of them are timed unless the user says otherwise. */
    private static int readTiming(String value, boolean cpu) {
        if (value == null || value.equals("auto") || value.equals("samples")) {
            return cpu ? 1 : AUTO;
        }
        if (value.equals("all")) {
            return 1;
        }
        try {
            if (value.startsWith("every:")) {
                int number = Integer.parseInt(value.substring(6));
                if (number >= 1 && number <= MAX_SAMPLED) {
                    if (cpu && number > 1) {
                        Log.say("CPU time is read at every call: instrument.timing=" + value + " is ignored");
                    }
                    return cpu ? 1 : number;
                }
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        Log.say("unknown instrument.timing=" + value + " (samples, auto, all, or every:N with N up to " + MAX_SAMPLED + "); timing automatically");
        return cpu ? 1 : AUTO;
    }

    /** ON/PERIOD, both in ms; zeros: there are no bursts. */
    private static long[] readBurst(String value) {
        if (value == null || value.isEmpty() || value.equals("off")) {
            return new long[2];
        }
        int slash = value.indexOf('/');
        long on = slash < 0 ? 0 : readMs(value.substring(0, slash));
        long period = slash < 0 ? 0 : readMs(value.substring(slash + 1));
        if (on > 0 && on < period && period <= LONGEST_PERIOD) {
            return new long[] {on, period};
        }
        Log.say("unknown instrument.burst=" + value + " (such as 100ms/1s: on for 100 ms of every second); recording all the time");
        return new long[2];
    }

    /** {@code 100ms} or {@code 2s} in ms; 0: it is neither. */
    private static long readMs(String value) {
        int unit = value.endsWith("ms") ? 1 : value.endsWith("s") ? 1000 : 0;
        try {
            String number = value.substring(0, Math.max(0, value.length() - (unit == 1 ? 2 : 1)));
            return unit == 0 ? 0 : Math.max(0, unit * (long) Integer.parseInt(number));
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    /** The bursts as they are given; null: there are none. */
    String bursts() {
        return burst == 0 ? null : burst + "ms/" + period + "ms";
    }

    private int readNumber(String key, int usual, int least, int most) {
        String value = find(key);
        if (value == null || value.isEmpty()) {
            return usual;
        }
        try {
            int number = Integer.parseInt(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        Log.say("unknown instrument." + key + "=" + value + " (" + least + " to " + most + "); it is " + usual);
        return usual;
    }

    private static long readLimit(String value, long usual) {
        if ("off".equals(value)) {
            return Long.MAX_VALUE;
        }
        if (value != null && !value.isEmpty()) {
            try {
                int unit = "kmg".indexOf(Character.toLowerCase(value.charAt(value.length() - 1)));
                long number = Long.parseLong(unit < 0 ? value : value.substring(0, value.length() - 1));
                if (number >= 0 && number <= Long.MAX_VALUE >> 30) {
                    return number << (unit + 1) * 10;
                }
            } catch (NumberFormatException e) {
                // Said below.
            }
            Log.say("unknown instrument.limit=" + value + " (bytes, or a number with k, m or g; off)");
        }
        return usual;
    }
}
