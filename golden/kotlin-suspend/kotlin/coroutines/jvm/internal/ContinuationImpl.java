package kotlin.coroutines.jvm.internal;

import kotlin.coroutines.Continuation;
import kotlin.coroutines.intrinsics.IntrinsicsKt;

public abstract class ContinuationImpl implements Continuation<Object> {
    private final Continuation<?> completion;

    public ContinuationImpl(Continuation<?> completion) {
        this.completion = completion;
    }

    protected abstract Object invokeSuspend(Object result);

    @Override
    public final void resumeWith(Object result) {
        Object outcome;
        try {
            outcome = invokeSuspend(result);
            if (outcome == IntrinsicsKt.getCOROUTINE_SUSPENDED()) {
                return;
            }
        } catch (Throwable error) {
            outcome = error;
        }
        completion.resumeWith(outcome);
    }
}
