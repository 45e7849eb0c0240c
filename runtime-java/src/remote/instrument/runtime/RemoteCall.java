package instrument.runtime;

import java.io.IOException;

/**
 * The record of a remote call that is open, in the file from its beginning on. An object is used for one call after the other. Where there is
 * no room in the file, it takes what it is told and writes nothing.
 */
final class RemoteCall {
    // Kinds.
    static final int MADE = 1;
    static final int SERVED = 2;
    static final int HTTP_MADE = 3;
    static final int HTTP_SERVED = 4;
    static final int GRPC_MADE = 5;
    static final int GRPC_SERVED = 6;
    static final int JMS_SENT = 7;
    static final int JMS_RECEIVED = 8;

    // Flags.
    static final int THREW = 1;
    private static final int RETURN_KNOWN = 2;
    static final int NO_SUCH_OBJECT = 4;
    static final int FAILED = 8;
    private static final int KEY_KNOWN = 16;
    static final int BAD_KEY = 32;
    /** Of a request by HTTP: a proxy stands between. */
    static final int FORWARDED = 64;
    /** Of a request by HTTP: its connection carries several at a time. */
    static final int SHARED = 128;

    /** Of a request by HTTP: whoever would write it to a connection has not done so, and would have told. */
    static final int UNSENT = 256;
    private static final int KEY_IS_ID = 512;

    // Words of a record.
    static final int WORDS = 16;
    private static final int KIND = 0;
    private static final int CONNECTION = 1;
    private static final int OBJECT = 2;
    private static final int FLAGS = 4;
    private static final int HASH = 5;
    private static final int OPERATION = 6;
    private static final int RETURN = 7;
    private static final int CONTEXT = 9;
    private static final int BEGIN = 10;
    private static final int SENT = 11;
    private static final int RETURNED = 12;
    private static final int END = 13;
    private static final int METHOD = 14;
    private static final int PORT = 15;

    // How far it has come.
    /** Its record is there; else this is where a stub was entered. */
    boolean begun;
    int kind;
    /** A stub or a skeleton has told of it, or a connection is wanted for it. */
    boolean announced;
    /** The method that is called has told of it, and nothing else. */
    boolean told;
    /** The JDK's reference that a connection is wanted for. */
    Object asked;
    /** Its operation is called by a skeleton. */
    boolean skeleton;
    boolean dispatched;
    boolean sent;
    boolean returned;
    /** Something was said of how it ended. */
    boolean settled;
    Connection connection;
    /** Identity hash of the JDK's object for it, which is not kept alive. */
    int call;
    /** A hash of the ObjID. */
    long object;
    int link;
    /** What the thread does it does on behalf of {@link #link}. */
    boolean isEntered;
    /** Of a request by HTTP: its response comes with another call. */
    boolean waits;
    /** A request by HTTP; null: it has been used for none. */
    HttpMessage http;

    /** Null: there is no room. */
    private Region region;
    private int at;
    private int operation;
    private int type;
    private int method;
    /** Made: the number of the call that was served meanwhile; served: its own. 0: none. */
    int number;

    /** Forgets what it was used for, so that it keeps nothing alive. */
    void clear() {
        kind = 0;
        begun = isEntered = waits = announced = told = skeleton = dispatched = sent = returned = settled = false;
        connection = null;
        asked = null;
        call = 0;
        object = 0;
        link = 0;
        region = null;
        operation = -1;
        type = 0;
        method = 0;
        number = 0;
        if (http != null) {
            http.clear();
        }
    }

    /** Becomes one with a record that another thread has begun. */
    void same(RemoteCall of) {
        begun = true;
        kind = of.kind;
        link = of.link;
        number = of.number;
        method = of.method;
        region = of.region;
        at = of.at;
        HttpMessage message = message();
        message.recording = of.http.recording;
        message.hasKey = of.http.hasKey;
        message.parent.same(of.http.parent);
    }

    /** Whether both are one call, whichever threads have them. */
    boolean isSame(RemoteCall of) {
        return this == of || number != 0 && kind == of.kind && number == of.number;
    }

    /** It is a request by HTTP, of which nothing is known so far. */
    HttpMessage message() {
        if (http == null) {
            http = new HttpMessage();
        }
        return http;
    }

    /** What is known of a request by HTTP. */
    void request(int name, int host) {
        hash(http.hash & 0xffffffffL);
        method(name);
        host(host);
        put(PORT, (long) number << 32 | http.port & 0xffffL);
    }

    /** It has another name than was known when it began. */
    void rename(int name) {
        method = name;
        if (region != null) {
            put(METHOD, region.get(at + METHOD) & 0xffffffff00000000L | name & 0xffffffffL);
        }
    }

    /** The number of its name. */
    int method() {
        return method;
    }

    /** Both ends of the request know this. */
    void key(TraceParent key) {
        http.hasKey = true;
        put(OBJECT, key.high);
        put(OBJECT + 1, key.low);
        put(RETURN, key.parent);
        flag(KEY_KNOWN);
    }

    /** Both ends of a message know its id. */
    void id(String id) {
        long one = id.hashCode();
        long other = id.length();
        for (int i = 0; i < id.length(); i++) {
            one = (one ^ id.charAt(i)) * 0x100000001B3L;
            other = Numbers.mix(other, id.charAt(i));
        }
        put(OBJECT, Numbers.mix(one, other));
        put(OBJECT + 1, Numbers.mix(other, id.length()));
        put(RETURN, one);
        flag(KEY_KNOWN);
        flag(KEY_IS_ID);
    }

    void status(int status) {
        put(PORT, (long) number << 32 | (long) status << 16 | http.port & 0xffffL);
    }

    void number(int number) {
        this.number = number;
        if (region != null) {
            put(PORT, region.get(at + PORT) & 0xffffffffL | (long) number << 32);
        }
    }

    /** Not only the thread has it. */
    boolean isShared() {
        return kind == GRPC_MADE || kind == GRPC_SERVED || kind == JMS_RECEIVED;
    }

    boolean isServed() {
        return kind == SERVED || isServedRequest();
    }

    /** It is served, and no call of remote method invocation. */
    boolean isServedRequest() {
        return kind == HTTP_SERVED || kind == GRPC_SERVED || kind == JMS_RECEIVED;
    }

    /** Which message on which connection a request by HTTP is; 0: unknown. */
    void place(int connection, int ordinal) {
        put(CONNECTION, connection == 0 ? 0 : (long) ordinal << 32 | connection);
        if (region != null) {
            // What was said of an earlier attempt.
            put(FLAGS, region.get(at + FLAGS) & ~((long) (UNSENT | FORWARDED | SHARED) << 48));
        }
    }

    /** A place in the file. */
    void place(Region region, int at) {
        this.region = region;
        this.at = at;
    }

    private void put(int word, long value) {
        if (region != null) {
            region.put(at + word, value);
        }
    }

    /** Its record becomes visible. */
    void begin(int kind, int thread) {
        begun = true;
        this.kind = kind;
        operation(operation);
        put(BEGIN, Clock.now());
        put(KIND, (long) thread << 32 | kind);
    }

    void over(Connection connection, int ordinal) {
        this.connection = connection;
        put(CONNECTION, (long) ordinal << 32 | connection.number());
    }

    void object(RemoteIds id) {
        object = Numbers.mix(Numbers.mix(id.number, id.time), (long) id.count << 32 ^ id.unique);
        put(OBJECT, id.number);
        put(OBJECT + 1, id.time);
        put(FLAGS, id.unique & 0xffffffffL | (long) id.count << 32);
    }

    void hash(long hash) {
        put(HASH, hash);
    }

    void operation(int operation) {
        this.operation = operation;
        put(OPERATION, (long) type << 32 | operation & 0xffffffffL);
    }

    /** The class of the implementation. */
    void type(int type) {
        this.type = type;
        operation(operation);
    }

    void method(int method) {
        this.method = method;
        host(0);
    }

    /** Where it would have gone. */
    void to(RemoteIds reference) {
        host(ClassNames.text(reference.host));
        put(PORT, (long) number << 32 | reference.port & 0xffffL);
    }

    /** Of its other side, where nothing else is known of that. The method is known already. */
    void host(int host) {
        put(METHOD, (long) host << 32 | method & 0xffffffffL);
    }

    void cause(int context, int link) {
        this.link = link;
        put(CONTEXT, (long) link << 32 | context);
    }

    void sent(long now) {
        sent = true;
        put(SENT, now);
    }

    void returned(Object uid, RemoteIds ids, long now) throws IOException {
        returned = true;
        if (ids.readUID(uid)) {
            put(RETURN, ids.time);
            put(RETURN + 1, ids.unique & 0xffffffffL | (long) ids.count << 32);
            flag(RETURN_KNOWN);
        }
        put(RETURNED, now);
    }

    void flag(int flag) {
        settled |= flag != RETURN_KNOWN;
        if (region != null) {
            put(FLAGS, region.get(at + FLAGS) | (long) flag << 48);
        }
    }

    void end(long now) {
        put(END, now);
    }
}
