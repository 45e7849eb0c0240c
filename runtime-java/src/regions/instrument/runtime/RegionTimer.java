package instrument.runtime;

import java.util.Arrays;

/** The passages of one thread through one code region. A recursive call is a passage of its own, within the other. */
final class RegionTimer {
    /** Open passages of one thread. When there are more, the older half was left unseen: super() may have thrown. */
    private static final int MOST_OPEN = 4096;

    final int number;
    final RegionTimer next;
    private final Region region;
    private final int ring;
    /** The clock at the beginning of each open passage; 0: it began during a pause and does not count. */
    private long[] begins = new long[8];
    /** ns of the pauses before. */
    private long[] pauses = new long[8];
    private int open;

    private RegionTimer(Region region, int number, RegionTimer next) {
        this.region = region;
        this.number = number;
        this.next = next;
        ring = (region.length - Format.HEADER) / 16;
    }

    /** The timer of a region that has none yet in this thread; null: there is no room, or nothing is recorded. */
    static RegionTimer add(ThreadState state, int number) {
        if (state.isPaused() || state.isOld()) {
            return null;
        }
        if (state.mode == ThreadState.NEW) {
            state.arrive();
        }
        int before = state.mode;
        if (before != state.live && !state.isBetween()) {
            return null;
        }
        state.mode = ThreadState.BUSY;
        try {
            return state.header != null || Recorder.get().attach(state) ? create(state, number) : null;
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = before;
            }
        }
    }

    /** A timer that is the first in its thread's list; null: there is no room. */
    static RegionTimer create(ThreadState state, int number) {
        // A power of two can be used again when the thread has ended.
        int length = Integer.highestOneBit(Format.HEADER + 16 * Recording.settings.ring - 1) << 1;
        Region region = Recording.file.allocate(length);
        if (region == null) {
            return null;
        }
        region.put(Format.REGION_NUMBER, number);
        region.put(Format.REGION_MIN, Long.MAX_VALUE);
        region.publish(Format.REGION_TIMINGS, state.ordinal);
        RegionTimer timer = new RegionTimer(region, number, (RegionTimer) state.timers);
        state.timers = timer;
        return timer;
    }

    void begin() {
        if (open == begins.length) {
            if (open == MOST_OPEN) {
                int left = MOST_OPEN / 2;
                region.put(Format.REGION_LEFT, region.get(Format.REGION_LEFT) + left);
                System.arraycopy(begins, left, begins, 0, left);
                System.arraycopy(pauses, left, pauses, 0, left);
                open -= left;
            } else {
                pauses = Arrays.copyOf(pauses, 2 * open);
                begins = Arrays.copyOf(begins, 2 * open);
            }
        }
        long now = Clock.now();
        pauses[open] = Pauses.ns(now);
        begins[open] = Pauses.isOn() ? 0 : now;
        open++;
    }

    void end(long now) {
        if (open == 0) {
            return;
        }
        long begin = begins[--open];
        if (begin == 0) {
            return;
        }
        long ns = Math.max(0, now - begin - (Pauses.ns(now) - pauses[open]));
        long passages = region.get(Format.REGION_PASSAGES);
        int at = Format.HEADER_WORDS + 2 * (int) (passages % ring);
        region.put(at, begin);
        region.put(at + 1, ns);
        region.put(Format.REGION_NS, region.get(Format.REGION_NS) + ns);
        if (ns < region.get(Format.REGION_MIN)) {
            region.put(Format.REGION_MIN, ns);
        }
        if (ns > region.get(Format.REGION_MAX)) {
            region.put(Format.REGION_MAX, ns);
        }
        region.put(Format.REGION_PASSAGES, passages + 1);
    }

    void left() {
        if (open != 0 && begins[--open] != 0) {
            region.put(Format.REGION_LEFT, region.get(Format.REGION_LEFT) + 1);
        }
    }

    /** Moves the figures; the last passages are forgotten. */
    void foldInto(RegionTimer to, ThreadState sum) {
        // To merge these twice does no harm.
        to.region.put(Format.REGION_MIN, Math.min(to.region.get(Format.REGION_MIN), region.get(Format.REGION_MIN)));
        to.region.put(Format.REGION_MAX, Math.max(to.region.get(Format.REGION_MAX), region.get(Format.REGION_MAX)));
        for (int word : new int[] {Format.REGION_PASSAGES, Format.REGION_NS, Format.REGION_LEFT}) {
            Journal.move(sum.header, to.region, word, region.get(word), region, word);
        }
        Recording.file.release(region);
    }
}
