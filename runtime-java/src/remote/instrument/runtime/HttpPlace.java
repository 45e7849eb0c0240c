package instrument.runtime;

import java.net.InetAddress;
import java.net.Socket;
import java.nio.channels.SocketChannel;

/** Where a request is: the message of this number on a connection. An object is used for one after the other. */
final class HttpPlace {
    /** The same object for all messages of a connection, and for no others; null: it is not known. */
    Object connection;
    /** Which message on it this is, whatever the others were, from 1; 0: unknown. */
    long ordinal;
    /** The connection carries several at a time, as HTTP/2 does: their order says nothing. */
    boolean isShared;

    // Of the connection, once it is asked for.
    int localPort;
    int remotePort;
    byte[] local;
    byte[] remote;
    /** A proxy has sent the request on. */
    boolean isForwarded;

    void clear() {
        connection = null;
        ordinal = 0;
        isShared = isForwarded = false;
        localPort = remotePort = 0;
        local = remote = null;
    }

    /** Takes the ends of a socket or of its channel. */
    void ends(Object of) {
        Socket socket = of instanceof SocketChannel ? ((SocketChannel) of).socket() : of instanceof Socket ? (Socket) of : null;
        if (socket != null) {
            localPort = socket.getLocalPort();
            remotePort = socket.getPort();
            local = bytes(socket.getLocalAddress());
            remote = bytes(socket.getInetAddress());
        }
    }

    private static byte[] bytes(InetAddress address) {
        return address == null ? null : address.getAddress();
    }

    static long number(Object number) {
        return number instanceof Number ? ((Number) number).longValue() : 0;
    }
}
