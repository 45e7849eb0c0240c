package instrument.runtime;

/**
 * The text of a statement without what differs from one time to the next: literals are {@code ?}, comments are gone, blanks are one, lists behind
 * {@code in} and equal rows behind each other are told once. It is no parser: what it cannot tell stays as it is. A backslash is a character like
 * any other within quotes, as the standard has it, unless an E stands before them; text in double quotes is a name.
 */
final class SqlText {
    /** Parentheses within each other that are looked at. */
    private static final int DEEPEST = 32;

    private final String text;
    private final StringBuilder out = new StringBuilder();
    private int at;
    /** Open parentheses: where in the output each begins; which is that of a list behind {@code in}, 0: none. */
    private final int[] begins = new int[DEEPEST];
    private int depth;
    private int list;
    private boolean blank;

    private SqlText(String text) {
        this.text = text;
    }

    static String withoutLiterals(String text) {
        return new SqlText(text).read();
    }

    private String read() {
        while (at < text.length() && out.length() <= BoundedText.LONGEST) {
            char c = text.charAt(at);
            if (c <= ' ') {
                at++;
                blank = true;
            } else if (text.startsWith("--", at)) {
                skipTo("\n");
                blank = true;
            } else if (text.startsWith("/*", at)) {
                at += 2;
                skipTo("*/");
                blank = true;
            } else if (c == '\'') {
                quoted(false);
                value();
            } else if (c == '"' || c == '`') {
                name(c);
            } else if (c == '?') {
                at++;
                value();
            } else if (isDigit(c) || c == '.' && isDigit(peek(1))) {
                number();
                value();
            } else if (c == '$' && dollarQuoted()) {
                value();
            } else if (isWord(c)) {
                word();
            } else {
                at++;
                mark(c);
            }
        }
        int length = out.length();
        while (length > 0 && (out.charAt(length - 1) == ';' || out.charAt(length - 1) == ' ')) {
            length--;
        }
        return length == 0 ? "(empty)" : BoundedText.of(out, length);
    }

    /** Moves behind what ends something. */
    private void skipTo(String end) {
        int found = text.indexOf(end, at);
        at = found < 0 ? text.length() : found + end.length();
    }

    /** Moves behind text in single quotes. */
    private void quoted(boolean backslashes) {
        for (at++; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == '\\' && backslashes) {
                at++;
            } else if (c == '\'') {
                if (peek(1) != '\'') {
                    at++;
                    return;
                }
                at++;
            }
        }
        at = text.length();
    }

    /** A name in quotes stays as it is. */
    private void name(char quote) {
        separate();
        do {
            out.append(text.charAt(at++));
        } while (at < text.length() && text.charAt(at) != quote);
        if (at < text.length()) {
            out.append(quote);
            at++;
        }
    }

    private void number() {
        if (text.charAt(at) == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
            at += 2;
        }
        for (; at < text.length(); at++) {
            char c = text.charAt(at);
            boolean isExponent = (c == '+' || c == '-') && (text.charAt(at - 1) == 'e' || text.charAt(at - 1) == 'E') && isDigit(peek(1));
            if (!isWord(c) && c != '.' && !isExponent) {
                return;
            }
        }
    }

    /** Moves behind {@code $tag$ .. $tag$}, if that is what begins here. */
    private boolean dollarQuoted() {
        int end = at + 1;
        while (end < text.length() && isWord(text.charAt(end)) && text.charAt(end) != '$') {
            end++;
        }
        if (end >= text.length() || text.charAt(end) != '$' || isDigit(peek(1))) {
            return false;
        }
        String tag = text.substring(at, end + 1);
        at = end + 1;
        skipTo(tag);
        return true;
    }

    /** A word, or a letter that belongs to the text in quotes behind it. */
    private void word() {
        int start = at;
        while (at < text.length() && isWord(text.charAt(at))) {
            at++;
        }
        char letter = Character.toUpperCase(text.charAt(start));
        if (at == start + 1 && "ENBX".indexOf(letter) >= 0 && peek(0) == '\'') {
            quoted(letter == 'E');
            value();
        } else if (at == start + 1 && letter == 'U' && text.startsWith("&'", at)) {
            at++;
            quoted(false);
            value();
        } else {
            separate();
            out.append(text, start, at);
        }
    }

    /** A value, whether it was one in the text or is a parameter. */
    private void value() {
        int end = out.length();
        if (end > 0 && !blank && (out.charAt(end - 1) == '-' || out.charAt(end - 1) == '+') && isSign(end - 1)) {
            out.setLength(end - 1);
        }
        if (list != 0 && list == depth && endsWithValueAndComma()) {
            blank = false;
            return;
        }
        separate();
        out.append('?');
    }

    /** Whether what stands here in the output is the sign of what follows: nothing that it could be added to is in front of it. */
    private boolean isSign(int place) {
        int before = place - 1;
        while (before >= 0 && out.charAt(before) == ' ') {
            before--;
        }
        return before >= 0 && "=<>(,*/|".indexOf(out.charAt(before)) >= 0;
    }

    /** In a list: takes the comma back that follows its value. */
    private boolean endsWithValueAndComma() {
        int end = out.length();
        while (end > 0 && (out.charAt(end - 1) == ',' || out.charAt(end - 1) == ' ')) {
            end--;
        }
        if (end == out.length() || end == 0 || out.charAt(end - 1) != '?') {
            return false;
        }
        out.setLength(end);
        return true;
    }

    private void mark(char c) {
        if (c == '(') {
            boolean isList = endsWithIn();
            separate();
            if (depth < DEEPEST) {
                begins[depth] = out.length();
            }
            depth++;
            if (isList && list == 0) {
                list = depth;
            }
            out.append(c);
        } else if (c == ')') {
            separate();
            out.append(c);
            if (list == depth) {
                list = 0;
            }
            if (depth > 0) {
                depth--;
                if (depth < DEEPEST) {
                    rowEnds(begins[depth]);
                }
            }
        } else {
            separate();
            out.append(c);
        }
    }

    private boolean endsWithIn() {
        int end = out.length();
        while (end > 0 && out.charAt(end - 1) == ' ') {
            end--;
        }
        return end >= 3 && Character.toLowerCase(out.charAt(end - 1)) == 'n' && Character.toLowerCase(out.charAt(end - 2)) == 'i'
            && !isWord(out.charAt(end - 3));
    }

    /** A row of values like the one in front of it is gone. */
    private void rowEnds(int begin) {
        int length = out.length() - begin;
        for (int i = begin + 1; i < out.length() - 1; i++) {
            if ("?, ".indexOf(out.charAt(i)) < 0) {
                return;
            }
        }
        int end = begin;
        while (end > 0 && (out.charAt(end - 1) == ',' || out.charAt(end - 1) == ' ')) {
            end--;
        }
        int comma = out.indexOf(",", end);
        if (end < length || comma < 0 || comma > begin) {
            return;
        }
        for (int i = 0; i < length; i++) {
            if (out.charAt(end - length + i) != out.charAt(begin + i)) {
                return;
            }
        }
        out.setLength(end);
    }

    /** One blank, where there was any. */
    private void separate() {
        if (blank && out.length() > 0) {
            out.append(' ');
        }
        blank = false;
    }

    private char peek(int ahead) {
        return at + ahead < text.length() ? text.charAt(at + ahead) : 0;
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    /** What a word may have; a word that begins with a digit is a number. */
    private static boolean isWord(char c) {
        return c == '_' || c == '$' || c == '#' || c == '@' || Character.isLetterOrDigit(c) || Character.isSurrogate(c);
    }
}
