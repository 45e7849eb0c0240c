package instrument.runtime;

/**
 * A class that is never loaded. HotSpot makes no method a part of its caller whose parameters have a class that is not
 * loaded: so the slow paths stay out of the probes, which are compiled while most contexts are new and slow paths are frequent. Callers give null.
 */
final class NotInlined {
    private NotInlined() {}
}
