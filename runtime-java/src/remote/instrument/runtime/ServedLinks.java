package instrument.runtime;

/**
 * The links that calls from other processes are served under: in a tree one for each remote object and method, so that what a call causes can
 * be told from what the process does for itself; in a trace one for each call.
 */
final class ServedLinks {
    /** Objects and methods that get a link of their own; past them, one for each method. */
    private static final int MOST = 4096;

    private static final Numbers BY_OBJECT = new Numbers();
    private static final Numbers BY_METHOD = new Numbers();

    private ServedLinks() {}

    /** Another recording begins: it has other links. */
    static synchronized void renew() {
        BY_OBJECT.clear();
        BY_METHOD.clear();
    }

    /** The link for a call; the thread is BUSY. 0: there is none. */
    static int of(ThreadState state, long object, int method) {
        switch (Recording.settings.record) {
            case Settings.TREE:
                return of(Numbers.mix(object, method), method);
            case Settings.TRACE:
                return state.header == null ? 0 : Links.make(state, Links.SERVED);
            default:
                return 0;
        }
    }

    private static synchronized int of(long key, int method) {
        int link = BY_OBJECT.get(key);
        if (link != 0) {
            return link;
        }
        boolean many = BY_OBJECT.size() >= MOST;
        link = many ? BY_METHOD.get(method) : 0;
        if (link == 0) {
            link = Links.serve();
        }
        if (link != 0) {
            (many ? BY_METHOD : BY_OBJECT).put(many ? method : key, link);
        }
        return link;
    }
}
