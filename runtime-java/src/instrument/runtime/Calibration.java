package instrument.runtime;

/** Measures what the probes cost. */
final class Calibration {
    private Calibration() {}

    static void run(ProfileFile file, Settings settings) {}
}
