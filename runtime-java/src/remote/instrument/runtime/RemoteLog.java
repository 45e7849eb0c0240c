package instrument.runtime;

/** The regions that the records of remote calls are in, those of all threads one after another. */
final class RemoteLog {
    private static final int FIRST_CHUNK = 1 << 13;
    private static final int LARGEST_CHUNK = 1 << 20;

    private static Region chunk;
    private static int next;
    private static int end;
    private static int length = FIRST_CHUNK;

    private RemoteLog() {}

    /** Another recording begins. */
    static synchronized void renew() {
        chunk = null;
        next = 0;
        end = 0;
        length = FIRST_CHUNK;
    }

    /** Gives a call the next place; none, and an event that was dropped, where there is no room. */
    static synchronized void place(RemoteCall call) {
        if (chunk == null || next + RemoteCall.WORDS > end) {
            Region fresh = Recording.file.allocate(length);
            if (fresh == null) {
                Recording.file.drop();
                return;
            }
            fresh.publish(Format.REMOTE_CALLS, 0);
            Recording.hasRemoteCalls = true;
            chunk = fresh;
            next = Format.HEADER_WORDS;
            end = fresh.length >> 3;
            length = Math.min(2 * length, LARGEST_CHUNK);
        }
        call.place(chunk, next);
        next += RemoteCall.WORDS;
    }
}
