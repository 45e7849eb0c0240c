package instrument.runtime;

import java.lang.ref.ReferenceQueue;
import java.util.concurrent.ConcurrentHashMap;

/** Calls that several threads may tell of, by objects of the program's or of a library's, none of which is kept alive. */
final class OpenCalls {
    private final ConcurrentHashMap<Object, RemoteCall> calls = new ConcurrentHashMap<Object, RemoteCall>();
    private final ReferenceQueue<Object> gone = new ReferenceQueue<Object>();

    private volatile int recording;

    void put(Object object, RemoteCall call) {
        if (recording != Recording.number) {
            renew();
        }
        forget();
        calls.put(new WeakIdentity(object, gone), call);
    }

    /** Null: there is none. */
    RemoteCall get(Object object) {
        forgetAfterwards();
        return object == null ? null : calls.get(question(object));
    }

    /** As {@link #get}, and it is no more. */
    RemoteCall take(Object object) {
        forgetAfterwards();
        return object == null || calls.isEmpty() ? null : calls.remove(question(object));
    }

    /** Calls of another recording are not told of any more. */
    private synchronized void renew() {
        if (recording != Recording.number) {
            calls.clear();
            recording = Recording.number;
        }
    }

    /** When no recording goes on, nothing is put any more. */
    private void forgetAfterwards() {
        if (Recording.isOver()) {
            forget();
        }
    }

    private void forget() {
        for (Object one; (one = gone.poll()) != null;) {
            calls.remove(one);
        }
    }

    private static WeakIdentity.Question question(Object object) {
        WeakIdentity.Question question = new WeakIdentity.Question();
        question.of = object;
        return question;
    }
}
