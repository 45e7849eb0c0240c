package instrument.runtime;

import java.net.InetAddress;
import java.net.Socket;

/** A connection that calls go over. It keeps neither the JDK's object nor its socket alive. */
final class Connection {
    // Sides.
    static final int CONNECTED = 1;
    static final int ACCEPTED = 2;

    /** Word of a record: how many sockets with these ports and addresses were accepted. */
    static final int ACCEPTED_WORD = 7;

    private final int side;
    private final long clock = Clock.now();
    // Addresses are two words each, as the format has them.
    private final int localPort;
    private final int remotePort;
    private final long[] local;
    private final long[] remote;
    /** Its number in the file, from 1; 0: it has carried no call so far, or there is no room for it. */
    private int number;
    private int calls;
    /** Of requests by HTTP: a proxy sends them on. */
    boolean isForwarded;

    Connection(int side, int localPort, byte[] local, int remotePort, byte[] remote) {
        this.side = side;
        this.localPort = localPort;
        this.remotePort = remotePort;
        this.local = words(local);
        this.remote = words(remote);
    }

    /** Of a socket, which may be of a class of the program. */
    static Connection of(final Socket socket, final int side) {
        final Connection[] read = new Connection[1];
        Privileged.run(new Runnable() {
            @Override
            public void run() {
                byte[] local = bytes(socket.getLocalAddress());
                byte[] remote = bytes(socket.getInetAddress());
                read[0] = new Connection(side, socket.getLocalPort(), local, socket.getPort(), remote);
            }
        });
        return read[0];
    }

    private static byte[] bytes(InetAddress address) {
        return address == null ? null : address.getAddress();
    }

    private static long[] words(byte[] address) {
        byte[] bytes = new byte[16];
        if (address != null && address.length == 4) {
            bytes[10] = bytes[11] = (byte) 0xff;
        }
        if (address != null && address.length <= 16) {
            System.arraycopy(address, 0, bytes, 16 - address.length, address.length);
        }
        long[] words = new long[2];
        for (int i = 0; i < 16; i++) {
            words[i >> 3] |= (bytes[i] & 0xffL) << 8 * (i & 7);
        }
        return words;
    }

    /** Both ends are known. */
    boolean isWhole() {
        return localPort > 0 && remotePort > 0 && (local[0] | local[1]) != 0 && (remote[0] | remote[1]) != 0;
    }

    int number() {
        return number;
    }

    /** It has no number so far, and is a connection of which something is known. */
    boolean isNew() {
        return calls == 0 && side != 0;
    }

    void number(int number) {
        this.number = number;
    }

    /** One more call goes over it; which one it is, from 1. Only one thread has a connection at a time. */
    int count() {
        return ++calls;
    }

    /** The same for the same ports and addresses. */
    long key() {
        long key = (long) localPort << 16 | remotePort;
        for (int i = 0; i < 2; i++) {
            key = Numbers.mix(Numbers.mix(key, local[i]), remote[i]);
        }
        return Numbers.mix(key, side);
    }

    int side() {
        return side;
    }

    int localPort() {
        return localPort;
    }

    int remotePort() {
        return remotePort;
    }

    void write(Region region, int at, int number, int incarnation, int accepted) {
        region.put(at + 1, (long) incarnation << 32 | (remotePort & 0xffffL) << 16 | localPort & 0xffffL);
        region.put(at + 2, local[0]);
        region.put(at + 3, local[1]);
        region.put(at + 4, remote[0]);
        region.put(at + 5, remote[1]);
        region.put(at + 6, clock);
        region.put(at + ACCEPTED_WORD, accepted);
        region.put(at, (long) side << 32 | number);
    }
}
