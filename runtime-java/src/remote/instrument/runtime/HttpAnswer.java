package instrument.runtime;

import java.util.function.BiConsumer;

/** Is told of the end of a request that no thread waits for, by whichever thread. */
final class HttpAnswer implements BiConsumer<Object, Throwable> {
    private final RemoteCall call;

    HttpAnswer(RemoteCall call) {
        this.call = call;
    }

    @Override
    public void accept(Object response, Throwable exception) {
        long now = Clock.now();
        RemoteCalls calls = null;
        try {
            calls = RemoteCalls.enter(false);
            HttpMessage message = call.http;
            if (message.recording == Recording.number && !Recording.isOver()) {
                call.status(exception == null ? message.library.status(response) : 0);
                if (exception != null) {
                    call.flag(RemoteCall.FAILED);
                }
                call.end(now);
            }
        } catch (Throwable e) {
            RemoteFailure.say(e);
        } finally {
            if (calls != null) {
                calls.state.mode = calls.mode;
            }
        }
    }
}
