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
import java.rmi.server.UnicastRemoteObject;
import java.util.ArrayList;
import java.util.List;

/**
 * Wire PORT CALLS FILE: a client that is called back, and keeps what goes over its connections and over those that it accepts, both ways, in the
 * order in which they are used first; it writes that at the end. Pings and their answers, which a client sends when it has not used a
 * connection for some milliseconds, are left out.
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

    private static boolean isPing(byte[] b, int offset, int length) {
        return length == 1 && (b[offset] == PING || b[offset] == PING_ACK);
    }

    private static final class Listening extends Socket {
        private ByteArrayOutputStream sent;
        private ByteArrayOutputStream received;

        /** To be accepted. */
        Listening() {}

        Listening(String host, int port) throws IOException {
            super(host, port);
        }

        @Override
        public OutputStream getOutputStream() throws IOException {
            if (sent == null) {
                sent = stream();
            }
            return new FilterOutputStream(super.getOutputStream()) {
                @Override
                public void write(int b) throws IOException {
                    out.write(b);
                    sent.write(b);
                }

                @Override
                public void write(byte[] b, int offset, int length) throws IOException {
                    out.write(b, offset, length);
                    if (!isPing(b, offset, length)) {
                        sent.write(b, offset, length);
                    }
                }
            };
        }

        @Override
        public InputStream getInputStream() throws IOException {
            if (received == null) {
                received = stream();
            }
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
                    if (n > 0 && !isPing(b, offset, n)) {
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
                return new ServerSocket(port) {
                    @Override
                    public Socket accept() throws IOException {
                        Listening socket = new Listening();
                        implAccept(socket);
                        return socket;
                    }
                };
            }
        });
        Trouble trouble = (Trouble) LocateRegistry.getRegistry("127.0.0.1", Integer.parseInt(args[0])).lookup("trouble");
        Trouble.Back back = new Trouble.Back() {
            @Override
            public int back(int value) {
                if (value % 5 == 4) {
                    throw new IllegalStateException(Integer.toString(value));
                }
                return value;
            }
        };
        UnicastRemoteObject.exportObject(back, 0);
        int thrown = 0;
        for (int value = 0; value < Integer.parseInt(args[1]); value++) {
            try {
                trouble.back(back, value);
            } catch (IllegalArgumentException | IllegalStateException e) {
                thrown++;
            }
        }
        System.out.println(thrown + " thrown");
        try (OutputStream out = new FileOutputStream(args[2])) {
            for (ByteArrayOutputStream stream : STREAMS) {
                out.write((stream.size() + "\n").getBytes("US-ASCII"));
                stream.writeTo(out);
            }
        }
        Runtime.getRuntime().halt(0);
    }
}
