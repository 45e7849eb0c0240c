package instrument.runtime;

/** Texts of strangers are cut before they become names. */
final class BoundedText {
    /** Characters of the longest name, without what stands for its kind. */
    static final int LONGEST = 400;

    private BoundedText() {}

    /** So many characters of a text, or as many as a name may have. */
    static String of(StringBuilder text, int length) {
        if (length <= LONGEST) {
            return text.substring(0, length);
        }
        // No half of a character.
        int end = Character.isHighSurrogate(text.charAt(LONGEST - 1)) ? LONGEST - 1 : LONGEST;
        return text.substring(0, end) + " ..";
    }
}
