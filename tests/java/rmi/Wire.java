import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.rmi.registry.LocateRegistry;
import java.rmi.server.RMISocketFactory;
import java.util.ArrayList;
import java.util.List;

/**
 * Wire PORT NAME CALLS FILE: a beacon's client that keeps what goes over its connections, both ways, and writes it at the end; but for pings
 * and their answers, which a client sends when it has not used a connection for some milliseconds.
 */
public final class Wire {
    private static final byte PING = 0x52;
    private static final byte PING_ACK = 0x53;
    private static final List<ByteArrayOutputStream> STREAMS = new ArrayList<>();

    private Wire() {}

    private static synchronized ByteArrayOutputStream stream() {
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        STREAMS.add(stream);
        return stream;
    }

    private static final class Listening extends Socket {
        private final ByteArrayOutputStream sent = stream();
        private final ByteArrayOutputStream received = stream();

        Listening(String host, int port) throws IOException {
            super(host, port);
        }

        @Override
        public OutputStream getOutputStream() throws IOException {
            return new FilterOutputStream(super.getOutputStream()) {
                @Override
                public void write(int b) throws IOException {
                    out.write(b);
                    sent.write(b);
                }

                @Override
                public void write(byte[] b, int offset, int length) throws IOException {
                    out.write(b, offset, length);
                    if (length != 1 || b[offset] != PING) {
                        sent.write(b, offset, length);
                    }
                }
            };
        }

        @Override
        public InputStream getInputStream() throws IOException {
            return new FilterInputStream(super.getInputStream()) {
                @Override
                public int read() throws IOException {
                    int b = in.read();
                    if (b >= 0) {
                        received.write(b);
                    }
                    return b;
                }

                @Override
                public int read(byte[] b, int offset, int length) throws IOException {
                    int n = in.read(b, offset, length);
                    if (n > 0 && (n != 1 || b[offset] != PING_ACK)) {
                        received.write(b, offset, n);
                    }
                    return n;
                }
            };
        }
    }

    public static void main(String[] args) throws Exception {
        RMISocketFactory.setSocketFactory(new RMISocketFactory() {
            @Override
            public Socket createSocket(String host, int port) throws IOException {
                return new Listening(host, port);
            }

            @Override
            public ServerSocket createServerSocket(int port) throws IOException {
                return new ServerSocket(port);
            }
        });
        Beacon beacon = (Beacon) LocateRegistry.getRegistry("127.0.0.1", Integer.parseInt(args[0])).lookup(args[1]);
        for (int serial = 0; serial < Integer.parseInt(args[2]); serial++) {
            beacon.remoteFoo(serial, 0);
        }
        try (OutputStream out = new FileOutputStream(args[3])) {
            for (ByteArrayOutputStream stream : STREAMS) {
                out.write((stream.size() + "\n").getBytes("US-ASCII"));
                stream.writeTo(out);
            }
        }
        Runtime.getRuntime().halt(0);
    }
}
