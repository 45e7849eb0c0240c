package instrument.runtime;

/**
 * Measures what the probes cost, in the way to record that is in use, on regions that no reader sees: when the program has run for a while, if it does,
 * and at its end, when the compiler has done its best with the probes, as with the program. Nobody waits for the first one: it would be a tenth of the
 * start of a small program. A measurement takes the time that the settings allow; where nobody waits, or a longer life has gone before, up to
 * {@link #LONGER} times as much: compilers have to be done.
 *
 * <p>What both found is written as properties. The figures to use are those of the one that had {@link #LEAST_ROUNDS}; if both had, of the cheaper one. If
 * neither had, they are written all the same: the number of rounds lets readers know that they are not to be used. Of calls that are not timed
 * the cheaper figure is used, whichever measurement it is from; one that has also measured calls that do more comes before one that has not.
 */
final class Calibration {
    /** Steady rounds that figures need: the median of so many is known to a seventh of their spread. */
    private static final int LEAST_ROUNDS = 50;
    /** A measurement may go on for so many times its time, while other threads have the processor. */
    private static final int PATIENCE = 10;
    /** The same for one that is the only one, at the end of the program. */
    private static final int MORE_PATIENCE = 20;
    /** How much longer than the settings say it may take where there is time. */
    private static final int LONGER = 5;
    /** The same where the compiler is not done with the probes when the time is up. */
    private static final int LATE = 6;
    /** What properties of calls that do more and more end with, in the order of {@link CalibrationRounds#ofLonger}. */
    private static final String[] LONGER_CALLS = {".middle", ".long"};
    /** The part of a program's life that the measurement at its end may take, if that is more than the settings say. */
    private static final int PART_OF_LIFE = 8;

    /**
     * ns for which nothing became cheaper, if there is the time: the last compiler (C2) takes its time, and what the one before it (C1) made is
     * steady until then, and two to five times as dear.
     */
    private static final long STABLE = 150000000L;

    /** The figures that the file has; null: none. */
    private static Calibration best;
    /** Of a call that is not timed, in ns, from rounds enough; below 0: there were none. */
    private static double leastUntimed = -1;
    /** That is from a measurement of calls that do more, too. */
    private static boolean hasLonger;

    /** Steady rounds; if not all calls are timed, of the kind of round that has fewer of them. */
    private final int rounds;
    /** Of a pair, in ns. */
    private final double cost;
    private final double inner;
    private final CalibrationRounds all;
    /** Those in which few calls were timed, first of calls that do little, then, if there was the time, of {@link #LONGER_CALLS}. */
    private final CalibrationRounds[] rare;

    private Calibration(CalibrationRounds all, CalibrationRounds[] rare) {
        this.all = all;
        this.rare = rare;
        rounds = rare.length == 0 ? all.steady() : Math.min(all.steady(), rare[0].steady());
        cost = Math.max(0, all.cost());
        inner = within(rare.length == 0 ? all.inner() : rare[0].innerOfRare());
    }

    /** Another recording begins. */
    static void renew() {
        best = null;
        leastUntimed = -1;
        hasLonger = false;
    }

    /** Loads what measuring needs. */
    static void prepare() {
        CalibrationCalls.plain(0, 0, 0, 0);
        CalibrationRounds.ofShort();
        Pauses.isOn();
    }

    /** Calibrates while the program runs, where nobody waits for it. Whether there are figures from rounds enough. */
    static boolean late(ProfileFile file, Settings settings) {
        run(file, settings, "start", LONGER * budget(settings), PATIENCE);
        return hasEnough();
    }

    private static boolean hasEnough() {
        return best != null && best.rounds >= LEAST_ROUNDS;
    }

    /**
     * Calibrates once more when the program ends. Where there are remote objects it is over soon: while a program ends it goes on to tell others
     * that it no longer needs theirs, and they may have ended.
     */
    static void end(ProfileFile file, Settings settings) {
        long budget = budget(settings);
        long most = Recording.hasRemoteCalls ? budget : LONGER * budget;
        int patience = Recording.hasRemoteCalls || hasEnough() ? PATIENCE : MORE_PATIENCE;
        run(file, settings, "end", Math.max(budget, Math.min(most, file.age() / PART_OF_LIFE)), patience);
    }

    private static long budget(Settings settings) {
        return settings.calibrate * 1000000L;
    }

    private static void run(ProfileFile file, Settings settings, String phase, long budget, int patience) {
        // Nothing is charged in a pause, and none begins meanwhile.
        synchronized (Pauses.LOCK) {
            if (!Pauses.isOn()) {
                runAlone(file, settings, phase, budget, patience);
            }
        }
    }

    private static void runAlone(ProfileFile file, Settings settings, String phase, long budget, int patience) {
        ThreadState scratch = Threads.scratch(Thread.currentThread());
        if (scratch == null) {
            return;
        }
        String found;
        scratch.tryOut();
        // Stays open: the thread is inside, whatever the root methods of the program are.
        SlowPath.enter(scratch, CalibrationCalls.OUTERMOST, 0, null);
        CurrentThread.onTrial(scratch);
        try {
            found = measure(scratch, settings, phase, budget, Clock.now() + patience * budget);
        } finally {
            CurrentThread.onTrial(null);
            // Another thread may have moved it to another place: there it is nobody's from now on.
            scratch.disown();
            scratch.release();
        }
        if (found != null) {
            file.write(Format.PROPERTIES, found);
        }
    }

    /** What was found; null: no round counted. */
    private static String measure(
            ThreadState scratch, Settings settings, String phase, long budget, long end) {
        boolean some = settings.sampled != 1;
        CalibrationRounds all = CalibrationRounds.ofShort();
        // More kinds of rounds need their time.
        CalibrationRounds[] longer =
            budget > budget(settings) ? CalibrationRounds.ofLonger() : new CalibrationRounds[0];
        CalibrationRounds[] rare = new CalibrationRounds[some ? 1 + longer.length : 0];
        if (some) {
            rare[0] = CalibrationRounds.ofShort();
            System.arraycopy(longer, 0, rare, 1, longer.length);
        }
        long time = budget * 7 / 10;
        // Where somebody waits, the best that there is soon.
        long stable = budget > budget(settings) ? Math.max(time / 4, Math.min(STABLE, time / 2)) : time / 4;
        // See end().
        long longest = Recording.hasRemoteCalls ? time : Math.max(time, LATE * budget(settings) * 7 / 10);
        CalibrationRounds.run(scratch, all, rare, LEAST_ROUNDS, longest, stable, end);
        Calibration found = new Calibration(all, rare);
        if (found.rounds == 0) {
            return null;
        }
        StringBuilder text = new StringBuilder();
        found.figures(text, phase + ".");
        if (found.isBetter(best)) {
            best = found;
            found.figures(text, "");
            found.more(text, settings);
            ProfileFile.line(text, "calibration.rounds.least", Integer.toString(LEAST_ROUNDS));
        }
        found.untimed(text);
        long single = budget(settings);
        ProfileFile.line(text, "calibration.clock", decimal(CalibrationRounds.clock(single / 10)));
        ProfileFile.line(text, "calibration.allocation", decimal(CalibrationRounds.allocation(single * 2 / 10)));
        return text.toString();
    }

    private boolean isBetter(Calibration other) {
        if (other == null || rounds >= LEAST_ROUNDS != other.rounds >= LEAST_ROUNDS) {
            return other == null || rounds >= LEAST_ROUNDS;
        }
        return rounds >= LEAST_ROUNDS ? cost < other.cost : rounds > other.rounds;
    }

    private void figures(StringBuilder text, String phase) {
        String key = "calibration." + phase;
        ProfileFile.line(text, key + "inner", decimal(inner));
        ProfileFile.line(text, key + "outer", decimal(cost - inner));
        ProfileFile.line(text, key + "spread", decimal(all.spread()));
        ProfileFile.line(text, key + "rounds", Integer.toString(rounds));
    }

    /** The cost of a call that is not timed, if it is better known than before, or less than what was found before. */
    private void untimed(StringBuilder text) {
        if (rare.length == 0) {
            return;
        }
        double untimed = untimed(rare[0]);
        boolean counts = rounds >= LEAST_ROUNDS;
        boolean longer = counts && rare.length > 1 && CalibrationRounds.leastSteady(rare) >= LEAST_ROUNDS;
        if (counts ? leastUntimed < 0 || (longer == hasLonger ? untimed < leastUntimed : longer) : best == this) {
            leastUntimed = counts ? untimed : leastUntimed;
            hasLonger = longer;
            ProfileFile.line(text, "calibration.inner.untimed", "0");
            ProfileFile.line(text, "calibration.outer.untimed", decimal(untimed));
            ProfileFile.line(text, "calibration.call", decimal(rare[0].plain()));
            for (int i = 1; longer && i < rare.length; i++) {
                String kind = LONGER_CALLS[i - 1];
                ProfileFile.line(text, "calibration.outer.untimed" + kind, decimal(untimed(rare[i])));
                ProfileFile.line(text, "calibration.call" + kind, decimal(rare[i].plain()));
            }
        }
    }

    private double untimed(CalibrationRounds few) {
        // One call in N is timed even so. The time of the others is not measured, so nothing of the cost is inside.
        double share = 1.0 / Sampling.RARE;
        return Math.max(0, (few.cost() - share * cost) / (1 - share));
    }

    private void more(StringBuilder text, Settings settings) {
        if (settings.cpu) {
            // No other thread had the processor in the rounds that count: a pair takes as much CPU time as time.
            double cpu = within(all.innerCpu());
            ProfileFile.line(text, "calibration.cpu.inner", decimal(cpu));
            ProfileFile.line(text, "calibration.cpu.outer", decimal(cost - cpu));
        }
    }

    /** No part costs less than nothing, or more than the whole. */
    private double within(double part) {
        return Math.max(0, Math.min(cost, part));
    }

    /** With two digits, and a point whatever the locale says. */
    private static String decimal(double ns) {
        long hundredths = ns >= 1e9 ? 0 : Math.round(ns * 100);
        return hundredths / 100 + "." + hundredths / 10 % 10 + hundredths % 10;
    }
}
