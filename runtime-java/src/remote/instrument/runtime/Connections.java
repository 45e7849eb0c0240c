package instrument.runtime;

import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.WeakHashMap;

/**
 * The connections of this process. One comes into the file with its first call: those that only ping, or acknowledge what the
 * collector was sent, may be seen by one side alone, and the two sides have to count alike. Of sockets that are accepted it is known,
 * too, how many there were with the same ports and addresses, whatever came over them: then nobody else's connection is taken for one.
 */
final class Connections {
    private static final int CHUNK = 4096;
    private static final int WORDS = 8;
    private static final int IN_CHUNK = (CHUNK - Format.HEADER) / (8 * WORDS);
    /** Ports and addresses that are remembered; the incarnation of others is said to be the first. */
    private static final int MOST = 1 << 20;

    /** By the JDK's objects, which are equal only to themselves. */
    private static final WeakHashMap<Object, Connection> KNOWN = new WeakHashMap<Object, Connection>();
    private static final Numbers INCARNATIONS = new Numbers();
    /** Ports at which every socket that was ever accepted was seen. */
    private static final Numbers LISTENED = new Numbers();
    private static final Numbers ACCEPTED = new Numbers();
    /** The last record with these ports and addresses. */
    private static final Numbers RECORDS = new Numbers();
    private static final ArrayList<Region> CHUNKS = new ArrayList<Region>();
    private static int last;
    private static boolean full;

    private Connections() {}

    /** Another recording begins: connections from before are like those that were made before anybody looked. */
    static void renew() {
        synchronized (KNOWN) {
            KNOWN.clear();
        }
        synchronized (Connections.class) {
            INCARNATIONS.clear();
            LISTENED.clear();
            ACCEPTED.clear();
            RECORDS.clear();
            CHUNKS.clear();
            last = 0;
            full = false;
        }
    }

    /** A connection was made. Its socket may be of a class of the program. */
    static void made(Object connection, Object socket, int side) {
        if (!(socket instanceof Socket)) {
            return;
        }
        Connection made = Connection.of((Socket) socket, side);
        synchronized (KNOWN) {
            KNOWN.put(connection, made);
        }
    }

    /** From its first socket on, a server socket is watched. */
    static void listening(Object socket) {
        if (socket instanceof ServerSocket) {
            int port = ((ServerSocket) socket).getLocalPort();
            synchronized (Connections.class) {
                LISTENED.put(port, 1);
            }
        }
    }

    /** One more was accepted. Its first call, if there is one, comes later. */
    static void accepted(Object socket) {
        if (socket instanceof Socket) {
            long key = Connection.of((Socket) socket, Connection.ACCEPTED).key();
            synchronized (Connections.class) {
                int count = ACCEPTED.get(key) + 1;
                if (count > 1 || ACCEPTED.size() < MOST) {
                    ACCEPTED.put(key, count);
                }
                int number = RECORDS.get(key);
                if (number > 0) {
                    CHUNKS.get((number - 1) / IN_CHUNK).put(at(number) + Connection.ACCEPTED_WORD, count);
                }
            }
        }
    }

    private static int at(int number) {
        return Format.HEADER_WORDS + (number - 1) % IN_CHUNK * WORDS;
    }

    /** What is known of a connection; one that was made before anybody looked has no number. */
    static Connection of(Object connection) {
        synchronized (KNOWN) {
            Connection known = KNOWN.get(connection);
            if (known == null) {
                known = new Connection(0, 0, null, 0, null);
                KNOWN.put(connection, known);
            }
            return known;
        }
    }

    /** One more call goes over a connection, which comes into the file with its first one; which call it is, from 1. */
    static int count(Connection connection) {
        if (connection.isNew()) {
            connection.number(record(connection, true));
        }
        return connection.count();
    }

    /** The number of a connection on which somebody else counts the calls; 0: it is not known, or there is no room. */
    static synchronized int number(Connection connection) {
        if (connection.isNew()) {
            connection.number(record(connection, false));
            connection.count();
        }
        return connection.number();
    }

    /** Writes a connection into the file; returns its number, 0: there is no room. {@code isCounted}: it matters how many there were with these ports. */
    private static synchronized int record(Connection connection, boolean isCounted) {
        if (full) {
            return 0;
        }
        if (last % IN_CHUNK == 0) {
            Region fresh = Recording.file.allocate(CHUNK);
            if (fresh == null) {
                full = true;
                return 0;
            }
            fresh.publish(Format.CONNECTIONS, 0);
            CHUNKS.add(fresh);
        }
        long key = connection.key();
        int incarnation = isCounted ? INCARNATIONS.get(key) + 1 : 1;
        if (isCounted && (incarnation > 1 || INCARNATIONS.size() < MOST)) {
            INCARNATIONS.put(key, incarnation);
        }
        int accepted = 0;
        if (isCounted && connection.side() == Connection.ACCEPTED && LISTENED.get(connection.localPort()) > 0) {
            accepted = ACCEPTED.get(key);
        }
        last++;
        if (accepted > 0) {
            RECORDS.put(key, last);
        }
        connection.write(CHUNKS.get(CHUNKS.size() - 1), at(last), last, incarnation, accepted);
        return last;
    }
}
