package instrument.runtime;

/**
 * A class that nothing needs, so that it is loaded late. HotSpot makes no method a part of its caller whose parameters have a class that is not
 * loaded: so the slow paths stay out of probes that are compiled while most contexts are new and slow paths are frequent. C2 loads the classes in
 * the signature of each method that it compiles by itself: from its first compilation of a slow path on, they may be inlined. Callers give null.
 */
final class NotInlined {
    private NotInlined() {}
}
