package instrument.runtime;

/** Something that {@link Scribe} is to write. */
abstract class Note {
    /** The one that was left before it. */
    Note next;

    /** Writes it; false: there is no room, it is dropped. Called by the scribe only. */
    abstract boolean write();
}
