package instrument.runtime;

/** What values are of. Those of a kind share a bound to their number, and the name of what is beyond it. */
final class ValueKind {
    static final ValueKind SQL = new ValueKind("SQL ", "(text not known)");
    static final ValueKind HTTP = new ValueKind("HTTP ", "(address not known)");
    static final ValueKind FILE = new ValueKind("FILE ", "(path not known)");

    /** What their names begin with. */
    final String prefix;
    final Value others;
    /** Of what cannot be asked for its value. */
    final Value unknown;
    /** How many there are; {@link ValueNames} counts them. */
    int count;

    private ValueKind(String prefix, String unknown) {
        this.prefix = prefix;
        this.others = new Value(prefix + "(others)");
        this.unknown = new Value(prefix + unknown);
    }

    /** A text without what differs from one time to the next. */
    String withoutLiterals(String text, String host, int port) {
        if (this == SQL) {
            return SqlText.withoutLiterals(text);
        }
        return this == HTTP ? PathText.ofAddress(text, host, port) : PathText.ofFile(text);
    }
}
