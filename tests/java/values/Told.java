/** What the rules of probes.toml call. */
public final class Told {
    static final StringBuilder TEXT = new StringBuilder();

    private Told() {}

    public static void before(Object argument, String target) {
        TEXT.append("before ").append(target).append(' ').append(argument).append('\n');
    }

    public static void after(Object result, Object argument, String target) {
        TEXT.append("after ").append(target).append(' ').append(argument).append(result != null).append('\n');
    }

    public static void ran(Object statement, Object result, String target) {
        TEXT.append("ran ").append(target).append(statement != result).append('\n');
    }
}
