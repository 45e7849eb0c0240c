import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;

/** Statements through a pool and a driver around the one of PostgreSQL, which talks to as much of a server as that needs. */
final class Postgres {
    private static final AtomicInteger EXECUTED = new AtomicInteger();

    private Postgres() {}

    public static void main(String[] args) throws Exception {
        ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread accepting = new Thread(() -> accept(listening), "accepting");
        accepting.setDaemon(true);
        accepting.start();
        DriverManager.registerDriver(new Layer(listening.getLocalPort()));
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("layer:");
        config.setMaximumPoolSize(2);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            int before = EXECUTED.get();
            texts(pool);
            prepared(pool);
            batch(pool);
            updates(pool);
            try {
                fails(pool);
            } catch (SQLException e) {
                System.out.println(e.getSQLState());
            }
            threads(pool);
            System.out.println(EXECUTED.get() - before);
        }
    }

    private static void texts(HikariDataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
            for (int i = 0; i < 3; i++) {
                ResultSet rows = statement.executeQuery("select name from item where id = " + i);
                rows.next();
                rows.getString(1);
            }
        }
    }

    /** The driver has the server keep it from the fifth time on. */
    private static void prepared(HikariDataSource pool) throws SQLException {
        for (int i = 0; i < 2; i++) {
            try (Connection connection = pool.getConnection();
                    PreparedStatement statement = connection.prepareStatement("select name from item where price > ? and id < 10")) {
                for (int j = 0; j < 4; j++) {
                    statement.setInt(1, j);
                    statement.executeQuery().next();
                }
            }
        }
    }

    private static void batch(HikariDataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement("insert into item values (?, 'x')")) {
            for (int i = 0; i < 3; i++) {
                statement.setInt(1, i);
                statement.addBatch();
            }
            statement.executeBatch();
        }
    }

    private static void updates(HikariDataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
            statement.executeUpdate("update item set price = 1 where id = 7");
            statement.execute("update item set price = 2 where id = 8");
        }
    }

    private static void fails(HikariDataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
            statement.executeQuery("select nothing from item where id = 1");
        }
    }

    private static void threads(HikariDataSource pool) throws InterruptedException {
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> work(pool));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void work(HikariDataSource pool) {
        try {
            for (int i = 0; i < 5; i++) {
                one(pool, i);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void one(HikariDataSource pool, int id) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement("select name from item where id = ?")) {
            statement.setInt(1, id);
            statement.executeQuery().next();
        }
    }

    /** A driver that passes everything on, as those that log do. */
    private static final class Layer implements Driver {
        private final int port;

        Layer(int port) {
            this.port = port;
        }

        @Override
        public Connection connect(String url, Properties properties) throws SQLException {
            if (!acceptsURL(url)) {
                return null;
            }
            String address = "jdbc:postgresql://127.0.0.1:" + port + "/shop?user=me&sslmode=disable&gssEncMode=disable";
            return new PassingConnection(DriverManager.getConnection(address));
        }

        @Override
        public boolean acceptsURL(String url) {
            return url.equals("layer:");
        }

        @Override
        public DriverPropertyInfo[] getPropertyInfo(String url, Properties properties) {
            return new DriverPropertyInfo[0];
        }

        @Override
        public int getMajorVersion() {
            return 1;
        }

        @Override
        public int getMinorVersion() {
            return 0;
        }

        @Override
        public boolean jdbcCompliant() {
            return false;
        }

        @Override
        public Logger getParentLogger() {
            return Logger.getGlobal();
        }
    }

    private static void accept(ServerSocket listening) {
        try {
            while (true) {
                Socket socket = listening.accept();
                Thread serving = new Thread(() -> serve(socket), "serving");
                serving.setDaemon(true);
                serving.start();
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void serve(Socket socket) {
        try (Socket closing = socket) {
            new Server(closing).run();
        } catch (IOException e) {
            // The client has gone.
        }
    }

    /** Version 3 of PostgreSQL's protocol: queries of both kinds; each has one row of one text, or none. */
    private static final class Server {
        private final DataInputStream in;
        private final DataOutputStream out;
        private final Map<String, String> statements = new HashMap<>();
        private final Map<String, String> portals = new HashMap<>();
        /** What comes before the next Sync is left unread after an error. */
        private boolean failed;

        Server(Socket socket) throws IOException {
            in = new DataInputStream(socket.getInputStream());
            out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        }

        void run() throws IOException {
            in.readNBytes(in.readInt() - 4);
            send('R', new Message().number(0));
            String[] parameters = {"server_version", "14.0", "client_encoding", "UTF8", "DateStyle", "ISO, MDY", "TimeZone", "UTC",
                "integer_datetimes", "on", "standard_conforming_strings", "on"};
            for (int i = 0; i < parameters.length; i += 2) {
                send('S', new Message().text(parameters[i]).text(parameters[i + 1]));
            }
            send('K', new Message().number(1).number(2));
            ready();
            while (true) {
                int kind = in.read();
                if (kind < 0 || kind == 'X') {
                    return;
                }
                byte[] body = in.readNBytes(in.readInt() - 4);
                if (kind == 'S') {
                    failed = false;
                    ready();
                } else if (!failed) {
                    answer(kind, new String(body, StandardCharsets.UTF_8));
                }
            }
        }

        private void answer(int kind, String body) throws IOException {
            String first = body.substring(0, Math.max(body.indexOf(0), 0));
            String rest = body.substring(first.length() + (body.isEmpty() ? 0 : 1));
            switch (kind) {
                case 'Q':
                    describe(first);
                    execute(first);
                    ready();
                    break;
                case 'P':
                    statements.put(first, rest.substring(0, rest.indexOf(0)));
                    send('1', new Message());
                    break;
                case 'B':
                    portals.put(first, statements.get(rest.substring(0, rest.indexOf(0))));
                    send('2', new Message());
                    break;
                case 'D':
                    String name = first.substring(1);
                    if (first.charAt(0) == 'S') {
                        String text = statements.get(name);
                        int count = (int) text.chars().filter(c -> c == '$').count();
                        Message types = new Message().small(count);
                        for (int i = 0; i < count; i++) {
                            types.number(23);
                        }
                        send('t', types);
                        describe(text);
                    } else {
                        describe(portals.get(name));
                    }
                    break;
                case 'E':
                    execute(portals.get(first));
                    break;
                case 'C':
                    send('3', new Message());
                    break;
                default:
                    out.flush();
            }
        }

        private void describe(String text) throws IOException {
            if (!isQuery(text)) {
                send('n', new Message());
            } else {
                // The type is text.
                send('T', new Message().small(1).text("name").number(0).small(0).number(25).small(-1).number(-1).small(0));
            }
        }

        private void execute(String text) throws IOException {
            if (text.isEmpty()) {
                send('I', new Message());
                return;
            }
            EXECUTED.incrementAndGet();
            if (text.contains("nothing")) {
                failed = true;
                send('E', new Message().field('S', "ERROR").field('C', "42703").field('M', "no such column").end());
                return;
            }
            if (isQuery(text)) {
                String value = text.startsWith("SHOW") ? "read committed" : "item";
                send('D', new Message().small(1).number(value.length()).bytes(value));
            }
            send('C', new Message().text(isQuery(text) ? "SELECT 1" : text.startsWith("insert") ? "INSERT 0 1" : "UPDATE 1"));
        }

        private static boolean isQuery(String text) {
            return text.startsWith("select") || text.startsWith("SHOW");
        }

        private void ready() throws IOException {
            send('Z', new Message().bytes("I"));
            out.flush();
        }

        private void send(char kind, Message message) throws IOException {
            out.writeByte(kind);
            out.writeInt(message.bytes.size() + 4);
            message.bytes.writeTo(out);
        }
    }

    private static final class Message {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        Message number(int value) {
            return small(value >> 16).small(value);
        }

        Message small(int value) {
            bytes.write(value >> 8);
            bytes.write(value);
            return this;
        }

        Message bytes(String text) {
            bytes.writeBytes(text.getBytes(StandardCharsets.UTF_8));
            return this;
        }

        Message text(String text) {
            return bytes(text).end();
        }

        Message field(char kind, String text) {
            bytes.write(kind);
            return text(text);
        }

        Message end() {
            bytes.write(0);
            return this;
        }
    }
}
