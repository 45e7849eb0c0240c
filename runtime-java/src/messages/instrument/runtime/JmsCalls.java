package instrument.runtime;

/**
 * Messages by JMS. One is sent in one call, whatever layers of a provider and a framework hand it on. What is received is done for by whoever has it: the
 * listener that it is handed to, or the method that has asked for it, until that returns or asks for the next one. Both may be the case of one message: then
 * the second goes on with what the first has begun.
 */
final class JmsCalls {
    /** For {@link ServedLinks}: all messages are of one object. */
    private static final long OBJECT = 0x6a6d7321;
    /** By the messages that were received. */
    private static final OpenCalls RECEIVED = new OpenCalls();

    private JmsCalls() {}

    /** A message is about to be sent. */
    static int sending(RemoteCalls calls, Object message) {
        JmsLibrary library = JmsLibrary.of(message);
        if (library == null || calls.state.isPaused()) {
            return 0;
        }
        for (int at = calls.depth - 1; at >= 0; at--) {
            if (calls.open[at].kind == RemoteCall.JMS_SENT && calls.open[at].http.request == message) {
                return 0;
            }
        }
        RemoteCall call = calls.record();
        HttpMessage said = call.message();
        said.request = message;
        said.before = library.id(message);
        said.recording = Recording.number;
        calls.cause(call);
        call.request(0, 0);
        header(said, library.header(message));
        if (said.header == null && Recording.settings.propagate) {
            said.parent.renew(calls.within());
            String given = said.parent.text();
            if (library.give(message, given)) {
                header(said, given);
            }
        }
        call.begin(RemoteCall.JMS_SENT, calls.thread());
        return said.token = calls.token();
    }

    private static void header(HttpMessage said, String header) {
        said.header = header;
        said.hasKey = header != null && said.parent.read(header);
    }

    /** The id of a message says more than its header, which programs pass on with others. */
    private static void key(RemoteCall call, String id) {
        if (id != null) {
            call.id(id);
        } else if (call.http.hasKey) {
            call.key(call.http.parent);
        } else if (call.http.header != null) {
            call.flag(RemoteCall.BAD_KEY);
        }
    }

    /** The program has a message, perhaps not for the first time. */
    static int received(RemoteCalls calls, Object message) {
        JmsLibrary library = JmsLibrary.of(message);
        if (library == null) {
            return 0;
        }
        RemoteCall known = RECEIVED.get(message);
        if (known != null && known.http.recording == Recording.number) {
            // One within the other is part of it.
            return calls.has(known) || calls.state.isPaused() ? 0 : calls.share(known);
        }
        if (calls.state.isPaused()) {
            return 0;
        }
        RemoteCall call = calls.record();
        HttpMessage said = call.message();
        said.recording = Recording.number;
        call.request(library.name(message), 0);
        header(said, library.header(message));
        key(call, library.id(message));
        call.begin(RemoteCall.JMS_RECEIVED, calls.thread());
        call.number(RemoteCallStack.nextNumber());
        call.cause(0, ServedLinks.of(calls.state, OBJECT, call.method()));
        int token = calls.enter(call);
        RECEIVED.put(message, call);
        return token;
    }

    static void ended(RemoteCalls calls, int token, boolean hasFailed, long now) {
        int at = calls.find(token);
        if (at < 0) {
            return;
        }
        RemoteCall call = calls.open[at];
        if (call.kind == RemoteCall.JMS_RECEIVED) {
            calls.letGo(token, now);
            if (call.http.recording == Recording.number && !Recording.isOver()) {
                if (hasFailed) {
                    call.flag(RemoteCall.THREW);
                }
                call.end(now);
            }
            return;
        }
        calls.fail(at + 1, now);
        Object message = call.http.request;
        JmsLibrary library = JmsLibrary.of(message);
        String id = library.id(message);
        // One that it had before is not of this send, which may have failed, or only be called so.
        key(call, id != null && id.equals(call.http.before) ? null : id);
        call.rename(library.name(message));
        if (hasFailed) {
            call.flag(RemoteCall.FAILED);
        }
        call.end(now);
        calls.remove(at);
    }
}
