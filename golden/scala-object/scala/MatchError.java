package scala;

public final class MatchError extends RuntimeException {
    public MatchError(Object value) {
        super(String.valueOf(value == null));
    }
}
