package instrument.runtime;

import java.net.Socket;
import java.nio.channels.SocketChannel;

/** How it is found out which message of which connection the requests of one library are. The library has to count all of them itself. */
abstract class HttpWire {
    /** A library, once its code has told of a request that it writes: it does so of every one. */
    static final class Teller {
        volatile boolean tells;
    }

    /** Null: it makes no requests. */
    final Teller teller;

    HttpWire(Teller teller) {
        this.teller = teller;
    }

    /**
     * Says where a request is. {@code carrier}: what is about to write it; null: it was read. The connection stays null where it is not known.
     */
    abstract void find(Object request, Object carrier, HttpPlace into);

    /** Between which ends that connection is; null: it is not known. */
    Connection ends(Object connection, int side) {
        Object socket = connection instanceof SocketChannel ? ((SocketChannel) connection).socket() : connection;
        return socket instanceof Socket ? Connection.of((Socket) socket, side) : null;
    }
}
