import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Runs statements in every way that java.sql has, through a proxy around a layer of classes around the driver. */
final class Shop {
    private static final int ITEMS = 10;

    private Shop() {}

    public static void main(String[] args) throws Exception {
        try (Connection connection = open()) {
            fill(connection);
            if (args.length > 0) {
                columns(connection, Integer.parseInt(args[0]));
                return;
            }
            names(connection);
            lists(connection);
            again(connection);
            batches(connection);
            keys(connection);
            calls(connection);
            caught(connection);
            try {
                fails(connection);
            } catch (SQLException e) {
                System.out.println(e.getErrorCode());
            }
            unknown(connection);
            constructed(connection);
            threads();
        }
        System.out.println("done");
    }

    private static Connection open() throws SQLException {
        return proxy(Connection.class, new PassingConnection(DriverManager.getConnection("jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1")));
    }

    /** Every statement that comes out of it is a proxy as well. */
    private static <T> T proxy(Class<T> type, T inner) {
        InvocationHandler handler = (self, method, arguments) -> {
            Object result;
            try {
                result = method.invoke(inner, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
            Class<?> returned = method.getReturnType();
            return returned == Statement.class || returned == PreparedStatement.class ? proxied(returned, result) : result;
        };
        return type.cast(Proxy.newProxyInstance(Shop.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static <T> T proxied(Class<T> type, Object inner) {
        return proxy(type, type.cast(inner));
    }

    private static void fill(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table if not exists item (id int primary key, name varchar(40), price int default 0)");
            statement.execute("create table if not exists log (id int auto_increment primary key, text varchar(40))");
            for (int i = 0; i < ITEMS; i++) {
                statement.executeUpdate("insert into item values (" + i + ", 'it''s " + i + "', -" + i + ")");
            }
        }
    }

    /** A statement for every row of another one. */
    private static void names(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select id from item /* 'all' */ where id < 7 -- but 3")) {
            while (rows.next()) {
                name(connection, rows.getInt(1));
            }
        }
    }

    private static String name(Connection connection, int id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("select name from item where id = ?")) {
            statement.setInt(1, id);
            ResultSet row = statement.executeQuery();
            row.next();
            return row.getString(1);
        }
    }

    private static void lists(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery("select count(*) from item where id in (1,2)");
            statement.executeQuery("select  count(*) from item\n where id in (1, 2, 3)");
        }
        try (PreparedStatement statement = connection.prepareStatement("select count(*) from item where id in (?, ?, ?, ?)")) {
            for (int i = 1; i <= 4; i++) {
                statement.setInt(i, i);
            }
            statement.execute();
        }
    }

    private static void again(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("update item set price = price + 1 where id = ?")) {
            for (int i = 0; i < 5; i++) {
                statement.setInt(1, i);
                statement.executeUpdate();
                statement.executeLargeUpdate();
            }
        }
    }

    private static void batches(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("delete from log where id = ?")) {
            for (int i = 0; i < 3; i++) {
                statement.setInt(1, 1000 + i);
                statement.addBatch();
            }
            statement.executeBatch();
            statement.setInt(1, 1000);
            statement.addBatch();
            statement.executeLargeBatch();
        }
        try (Statement statement = connection.createStatement()) {
            statement.addBatch("delete from log where text = 'a'");
            statement.addBatch("delete from log where text = 'b'");
            statement.executeBatch();
            statement.addBatch("delete from log where id = 1");
            statement.addBatch("delete from item where id = 100");
            statement.executeBatch();
            statement.addBatch("delete from log where text = 'c'");
            statement.executeBatch();
            statement.executeUpdate("delete from log where text = 'd'");
        }
    }

    private static void keys(Connection connection) throws SQLException {
        String insert = "insert into log (text) values ('x')";
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate(insert, Statement.RETURN_GENERATED_KEYS);
            statement.executeUpdate(insert, new int[] {1});
            statement.execute(insert, new String[] {"ID"});
            statement.executeLargeUpdate(insert);
        }
        long before = 1L << 40;
        String prepared = "insert into log (text) values (?)";
        int[] columns = {1};
        try (PreparedStatement a = connection.prepareStatement(prepared, Statement.RETURN_GENERATED_KEYS);
                PreparedStatement b = connection.prepareStatement(prepared, columns);
                PreparedStatement c = connection.prepareStatement(prepared, new String[] {"ID"});
                PreparedStatement d = connection.prepareStatement(prepared, ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY);
                PreparedStatement e = connection.prepareStatement(prepared, ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY,
                    ResultSet.CLOSE_CURSORS_AT_COMMIT)) {
            for (PreparedStatement each : new PreparedStatement[] {a, b, c, d, e}) {
                each.setString(1, "y");
                before += each.executeUpdate();
            }
        }
        System.out.println(before - (1L << 40));
    }

    private static void calls(Connection connection) throws SQLException {
        try (CallableStatement call = connection.prepareCall("call abs(-5)")) {
            call.execute();
        }
    }

    private static void caught(Connection connection) throws SQLException {
        Statement statement = connection.createStatement();
        for (int i = 0; i < 3; i++) {
            try {
                statement.executeQuery("select nothing from item where id = " + i);
            } catch (SQLException e) {
                // The next one is told of all the same.
                statement.executeQuery("select 1");
            }
        }
        statement.close();
    }

    private static void fails(Connection connection) throws SQLException {
        connection.createStatement().executeQuery("select nothing from item where id = 1");
    }

    /** Prepared by nobody who was rewritten. */
    private static void unknown(Connection connection) throws Exception {
        Connection driver = connection.unwrap(org.h2.jdbc.JdbcConnection.class);
        PreparedStatement statement = (PreparedStatement) Connection.class.getMethod("prepareStatement", String.class).invoke(driver, "select 2");
        statement.executeQuery();
        statement.executeQuery();
        statement.close();
    }

    private static void constructed(Connection connection) throws SQLException {
        new Query(connection);
        try {
            new Query(null);
        } catch (NullPointerException e) {
            name(connection, 1);
        }
    }

    /** The statement runs before super(). */
    private static final class Query extends Thread {
        Query(Connection connection) throws SQLException {
            super(String.valueOf(connection.prepareStatement("select name from item").executeQuery()));
        }
    }

    private static void threads() throws InterruptedException {
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(Shop::work);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void work() {
        try (Connection connection = open()) {
            for (int i = 0; i < 250; i++) {
                name(connection, i % ITEMS);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Statements that differ in more than their literals. */
    private static void columns(Connection connection, int count) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (int i = 0; i < count; i++) {
                statement.executeQuery("select id as c" + i + " from item");
                statement.executeQuery("select id as c" + i + " from item");
            }
        }
    }
}
