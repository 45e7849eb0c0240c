package p_q;

/** Names what looks for native methods by reflection, as JNA's direct mapping does. */
final class Mapped {
    static final String FINDER = "com/sun/jna/Native";

    static native double cos(double x);
}
