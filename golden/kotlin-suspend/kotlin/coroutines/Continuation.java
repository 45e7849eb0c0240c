package kotlin.coroutines;

public interface Continuation<T> {
    void resumeWith(Object result);
}
