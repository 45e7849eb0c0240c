package instrument.runtime;

import java.net.InetAddress;
import java.net.Socket;
import java.util.WeakHashMap;

/**
 * The connections of this process. One comes into the file with its first call: those that only ping, or acknowledge what the
 * collector was sent, may be seen by one side alone, and the two sides have to count alike.
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
    private static Region chunk;
    private static int last;
    private static boolean full;

    private Connections() {}

    /** A connection was made. Its socket may be of a class of the program. */
    static void made(Object connection, Object socket, final int side) {
        if (!(socket instanceof Socket)) {
            return;
        }
        final Socket of = (Socket) socket;
        final Connection[] made = new Connection[1];
        Privileged.run(new Runnable() {
            @Override
            public void run() {
                byte[] local = bytes(of.getLocalAddress());
                made[0] = new Connection(side, of.getLocalPort(), local, of.getPort(), bytes(of.getInetAddress()));
            }
        });
        synchronized (KNOWN) {
            KNOWN.put(connection, made[0]);
        }
    }

    private static byte[] bytes(InetAddress address) {
        return address == null ? null : address.getAddress();
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

    /** Writes a connection into the file; returns its number, 0: there is no room. */
    static synchronized int record(Connection connection) {
        if (full) {
            return 0;
        }
        if (last % IN_CHUNK == 0) {
            Region fresh = Threads.file.allocate(CHUNK);
            if (fresh == null) {
                full = true;
                return 0;
            }
            fresh.publish(Format.CONNECTIONS, 0);
            chunk = fresh;
        }
        long key = connection.key();
        int incarnation = INCARNATIONS.get(key) + 1;
        if (incarnation > 1 || INCARNATIONS.size() < MOST) {
            INCARNATIONS.put(key, incarnation);
        }
        int at = Format.HEADER_WORDS + last % IN_CHUNK * WORDS;
        last++;
        connection.write(chunk, at, last, incarnation);
        return last;
    }
}
