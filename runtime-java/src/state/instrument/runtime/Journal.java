package instrument.runtime;

/**
 * Moves figures of an ended thread to the sums of all ended threads, one word at a time, so that a process that is killed in between
 * leaves none twice and none lost: a reader that finds the journal in the header of the sums valid finishes the move.
 */
final class Journal {
    private Journal() {}

    /** Adds a figure here and clears it there. */
    static void move(Region header, Region target, int targetWord, long figure, Region source, int sourceWord) {
        if (figure != 0) {
            replace(header, target, targetWord, target.get(targetWord) + figure, source, sourceWord);
        }
    }

    /** Writes a sum here and clears its part there. */
    static void replace(Region header, Region target, int targetWord, long sum, Region source, int sourceWord) {
        header.put(Format.JOURNAL_TARGET, target.fileOffset + 8L * targetWord);
        header.put(Format.JOURNAL_VALUE, sum);
        header.put(Format.JOURNAL_SOURCE, source.fileOffset + 8L * sourceWord);
        header.put(Format.JOURNAL_VALID, 1);
        target.put(targetWord, sum);
        source.put(sourceWord, 0);
        header.put(Format.JOURNAL_VALID, 0);
    }
}
