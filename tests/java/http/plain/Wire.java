import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** A server that prints every byte of the requests that it gets, and answers each with a few bytes. */
public class Wire {
    public static void main(String[] args) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))) {
            Thread thread = new Thread(() -> serve(server));
            thread.setDaemon(true);
            thread.start();
            System.out.println("ready");
            System.out.println(server.getLocalPort());
            while (System.in.read() >= 0) {
                // Until it is closed.
            }
        }
    }

    private static void serve(ServerSocket server) {
        while (true) {
            try {
                Socket socket = server.accept();
                Thread thread = new Thread(() -> answer(socket, server.getLocalPort()));
                thread.setDaemon(true);
                thread.start();
            } catch (IOException e) {
                return;
            }
        }
    }

    private static void answer(Socket socket, int port) {
        try (InputStream in = socket.getInputStream()) {
            String head;
            while (!(head = head(in)).isEmpty()) {
                int length = 0;
                for (String line : head.split("\r\n")) {
                    if (line.toLowerCase().startsWith("content-length:")) {
                        length = Integer.parseInt(line.substring(15).trim());
                    }
                }
                byte[] body = in.readNBytes(length);
                System.out.print(head.replace(":" + port, ":PORT") + new String(body, "ISO-8859-1") + "\n--\n");
                socket.getOutputStream().write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".getBytes("ISO-8859-1"));
            }
        } catch (IOException e) {
            // The client has gone.
        }
    }

    private static String head(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        int last = 0;
        for (int c; last != 0x0d0a0d0a && (c = in.read()) >= 0; last = last << 8 | c) {
            head.write(c);
        }
        return head.toString("ISO-8859-1");
    }
}
