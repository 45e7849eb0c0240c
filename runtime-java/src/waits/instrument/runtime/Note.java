package instrument.runtime;

/** Something that {@link NoteWriter} is to write. */
abstract class Note {
    /** The one that was left before it. */
    Note next;

    /** Writes it; false: there is no room, it is dropped. Called by the note writer only. */
    abstract boolean write();
}
