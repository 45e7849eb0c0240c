package host;

/** Loads before the class of the probes, which extends it. */
public class Base {
    public String name() {
        return "base";
    }
}
