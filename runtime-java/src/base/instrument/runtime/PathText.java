package instrument.runtime;

/**
 * The path of an address or a file without what differs from one time to the next: numbers, UUIDs and long hexadecimal numbers are {@code ?}. In the
 * name of a file every digit is part of a number; in an address only a word of digits is one, as {@code v2} names a thing. What cannot be printed
 * becomes {@code %} and two hexadecimal digits: requests come from strangers.
 */
final class PathText {
    /** Digits of the shortest hexadecimal number. */
    private static final int SHORTEST_HEX = 8;
    /** Characters of the longest segment of an address with a digit in it that is no token. */
    private static final int LONGEST_SEGMENT = 32;
    private static final int UUID = 36;

    private final String text;
    private final boolean isAddress;
    private final StringBuilder out = new StringBuilder();
    private int at;

    private PathText(String text, boolean isAddress) {
        this.text = text;
        this.isAddress = isAddress;
    }

    /** The path of a file, relative or absolute. */
    static String ofFile(String path) {
        PathText one = new PathText(path, false);
        one.words(path.length());
        return BoundedText.of(one.out, one.out.length());
    }

    /** An address from its host on, which is empty for that of a request that came in. Negative port: the usual one. */
    static String ofAddress(String path, String host, int port) {
        PathText one = new PathText(path, true);
        for (int i = 0; i < host.length() && one.out.length() <= BoundedText.LONGEST; i++) {
            one.append(host.charAt(i) >= 'A' && host.charAt(i) <= 'Z' ? (char) (host.charAt(i) + 32) : host.charAt(i));
        }
        if (port >= 0 && !host.isEmpty()) {
            one.out.append(':').append(port);
        }
        one.segments();
        return BoundedText.of(one.out, one.out.length());
    }

    /** The segments of an address; what follows a semicolon, such as the id of a session, is gone. */
    private void segments() {
        int end = 0;
        while (end < text.length() && text.charAt(end) != '?' && text.charAt(end) != '#') {
            end++;
        }
        if (end == 0) {
            out.append('/');
        }
        while (at < end && out.length() <= BoundedText.LONGEST) {
            if (text.charAt(at) == '/') {
                out.append('/');
                at++;
                continue;
            }
            int slash = text.indexOf('/', at);
            int segment = slash < 0 || slash > end ? end : slash;
            int semicolon = text.indexOf(';', at);
            int told = semicolon < 0 || semicolon > segment ? segment : semicolon;
            if (isToken(told)) {
                out.append('?');
            } else {
                words(told);
            }
            at = segment;
        }
    }

    /** Whether a segment from here on is a token or the address of a person. */
    private boolean isToken(int end) {
        boolean hasDigit = false;
        for (int i = at; i < end; i++) {
            if (text.charAt(i) == '@' || text.startsWith("%40", i)) {
                return true;
            }
            hasDigit |= isDigit(text.charAt(i));
        }
        return hasDigit && end - at > LONGEST_SEGMENT;
    }

    private void words(int end) {
        while (at < end && out.length() <= BoundedText.LONGEST) {
            char c = text.charAt(at);
            if (isUuid(end)) {
                out.append('?');
                at += UUID;
            } else if (isWord(c)) {
                int start = at;
                while (at < end && isWord(text.charAt(at))) {
                    at++;
                }
                word(start);
            } else if (isAddress && c == '%' && at + 2 < end && isHex(text.charAt(at + 1)) && isHex(text.charAt(at + 2))) {
                out.append(text, at, at + 3);
                at += 3;
            } else if (Character.isHighSurrogate(c) && at + 1 < end && Character.isLowSurrogate(text.charAt(at + 1))) {
                out.append(c).append(text.charAt(at + 1));
                at += 2;
            } else {
                append(c);
                at++;
            }
        }
    }

    /** A word from there to here. */
    private void word(int start) {
        int digits = 0;
        int hex = 0;
        for (int i = start; i < at; i++) {
            digits += isDigit(text.charAt(i)) ? 1 : 0;
            hex += isHex(text.charAt(i)) ? 1 : 0;
        }
        int length = at - start;
        if (digits == length || digits > 0 && hex == length && length >= SHORTEST_HEX) {
            out.append('?');
        } else if (digits == 0 || isAddress) {
            out.append(text, start, at);
        } else {
            for (int i = start; i < at; i++) {
                char c = text.charAt(i);
                if (!isDigit(c)) {
                    out.append(c);
                } else if (i == start || !isDigit(text.charAt(i - 1))) {
                    out.append('?');
                }
            }
        }
    }

    /** Whether a UUID begins here, and ends with a word. */
    private boolean isUuid(int end) {
        if (end - at < UUID || at > 0 && isWord(text.charAt(at - 1)) || end - at > UUID && isWord(text.charAt(at + UUID))) {
            return false;
        }
        for (int i = 0; i < UUID; i++) {
            boolean isHyphen = i == 8 || i == 13 || i == 18 || i == 23;
            char c = text.charAt(at + i);
            if (isHyphen ? c != '-' : !isHex(c)) {
                return false;
            }
        }
        return true;
    }

    private void append(char c) {
        int type = Character.getType(c);
        boolean isPrintable = type != Character.CONTROL && type != Character.FORMAT && type != Character.SURROGATE
            && type != Character.LINE_SEPARATOR && type != Character.PARAGRAPH_SEPARATOR && (c != ' ' || !isAddress);
        if (isPrintable) {
            out.append(c);
            return;
        }
        out.append('%');
        for (int shift = c > 0xff ? 12 : 4; shift >= 0; shift -= 4) {
            out.append(Character.toUpperCase(Character.forDigit(c >> shift & 15, 16)));
        }
    }

    private static boolean isWord(char c) {
        return Character.isLetterOrDigit(c);
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static boolean isHex(char c) {
        return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F';
    }
}
