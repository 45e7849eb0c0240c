import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Ten programs: {@code java Seeds PROGRAM [CHANGE]}. With the change {@code n+1} a method that is called for each row sends a statement of its own, and
 * no method is called more often. The other changes are harmless.
 */
final class Seeds {
    private static final int ROWS = 20;
    private static String change = "";

    private Seeds() {}

    public static void main(String[] args) throws SQLException {
        change = args.length > 1 ? args[1] : "";
        Connection connection = has("layers") ? new PassingConnection(new PassingConnection(Fake.connect())) : Fake.connect();
        System.out.println(run(args[0], connection));
    }

    private static int run(String program, Connection connection) throws SQLException {
        switch (program) {
            case "customers":
                return Customers.list(connection);
            case "lines":
                return Lines.list(connection);
            case "inserts":
                return Inserts.save(connection);
            case "updates":
                return Updates.flush(connection);
            case "exists":
                return Exists.load(connection);
            case "tree":
                return Tree.paths(connection);
            case "streams":
                return Streams.labels(connection);
            case "cache":
                return Cache.prices(connection);
            case "rights":
                return Rights.filter(connection);
            case "sorted":
                return Sorted.sort(connection);
            default:
                throw new IllegalArgumentException(program);
        }
    }

    private static boolean has(String name) {
        return change.equals(name);
    }

    /** The rows, in another order with the change of that name. */
    private static List<Integer> rows() {
        List<Integer> rows = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            rows.add(i);
        }
        if (has("order")) {
            Collections.reverse(rows);
        }
        return rows;
    }

    /** What a program asks for once; the changes write it in other ways. */
    private static String text(String columns, String table) {
        if (has("column")) {
            return "select " + columns + ", changed from " + table + " where tenant = 1";
        }
        return "select " + columns + " from " + table + " where tenant = " + (has("literals") ? "2" : "1");
    }

    private static void one(Connection connection, String text) throws SQLException {
        if (has("prepared")) {
            connection.prepareStatement(text).executeQuery();
            return;
        }
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery(text);
        }
    }

    private static final class Customers {
        static int list(Connection connection) throws SQLException {
            one(connection, text("*", "orders"));
            int sum = 0;
            for (int row : rows()) {
                sum += name(connection, row);
            }
            return sum;
        }

        private static int name(Connection connection, int row) throws SQLException {
            if (has("n+1")) {
                connection.createStatement().executeQuery("select name from customer where id = " + row);
            }
            return row;
        }
    }

    private static final class Lines {
        static int list(Connection connection) throws SQLException {
            one(connection, text("*", "orders join line"));
            int sum = 0;
            for (int order = 0; order < 5; order++) {
                for (int line = 0; line < 4; line++) {
                    sum += product(connection, order * 4 + line);
                }
            }
            return sum;
        }

        private static int product(Connection connection, int number) throws SQLException {
            if (has("n+1")) {
                try (PreparedStatement statement = connection.prepareStatement("select price from product where id = ?")) {
                    statement.setInt(1, number);
                    statement.executeQuery();
                }
            }
            return number;
        }
    }

    private static final class Inserts {
        static int save(Connection connection) throws SQLException {
            one(connection, text("max(id)", "log"));
            try (PreparedStatement statement = connection.prepareStatement("insert into log values (?)")) {
                for (int row : rows()) {
                    add(statement, row);
                }
                if (!has("n+1")) {
                    statement.executeBatch();
                }
            }
            return ROWS;
        }

        private static void add(PreparedStatement statement, int row) throws SQLException {
            statement.setInt(1, row);
            if (has("n+1")) {
                statement.executeUpdate();
            } else {
                statement.addBatch();
            }
        }
    }

    private static final class Updates {
        static int flush(Connection connection) throws SQLException {
            one(connection, text("id", "item"));
            for (int row : rows()) {
                touch(connection, row);
            }
            try (Statement statement = connection.createStatement()) {
                return statement.executeUpdate("update item set stock = 0");
            }
        }

        private static void touch(Connection connection, int row) throws SQLException {
            if (has("n+1")) {
                connection.createStatement().executeUpdate("update item set stock = 0 where id = " + row);
            }
        }
    }

    private static final class Exists {
        static int load(Connection connection) throws SQLException {
            one(connection, text("id", "item"));
            Set<Integer> known = new HashSet<>(rows());
            int found = 0;
            for (int row : rows()) {
                found += isThere(connection, known, row) ? 1 : 0;
            }
            return found;
        }

        private static boolean isThere(Connection connection, Set<Integer> known, int row) throws SQLException {
            if (has("n+1")) {
                connection.createStatement().executeQuery("select count(*) from item where id = " + row);
            }
            return known.contains(row);
        }
    }

    private static final class Tree {
        static int paths(Connection connection) throws SQLException {
            one(connection, text("id, parent", "node"));
            int levels = 0;
            for (int row : rows()) {
                levels += level(connection, row);
            }
            return levels;
        }

        private static int level(Connection connection, int node) throws SQLException {
            if (has("n+1")) {
                connection.createStatement().executeQuery("select parent from node where id = " + node);
            }
            return node == 0 ? 0 : 1 + level(connection, node / 2);
        }
    }

    private static final class Streams {
        static int labels(Connection connection) throws SQLException {
            one(connection, text("id, label", "tag"));
            return rows().stream().map(row -> label(connection, row)).collect(Collectors.toList()).size();
        }

        private static String label(Connection connection, int row) {
            try {
                if (has("n+1")) {
                    connection.createStatement().executeQuery("select label from tag where id = " + row);
                }
                return "label";
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static final class Cache {
        static int prices(Connection connection) throws SQLException {
            one(connection, text("code", "item"));
            Map<Integer, Integer> known = new HashMap<>();
            int sum = 0;
            for (int row : rows()) {
                sum += price(connection, known, row % 4);
            }
            return sum;
        }

        private static int price(Connection connection, Map<Integer, Integer> known, int code) throws SQLException {
            if (!known.containsKey(code) || has("n+1")) {
                connection.createStatement().executeQuery("select price from price where code = " + code);
                known.put(code, code);
            }
            return known.get(code);
        }
    }

    private static final class Rights {
        private static boolean isLoaded;

        static int filter(Connection connection) throws SQLException {
            one(connection, text("*", "document"));
            int count = 0;
            for (int row : rows()) {
                count += isAllowed(connection, row) ? 1 : 0;
            }
            return count;
        }

        private static boolean isAllowed(Connection connection, int row) throws SQLException {
            if (!isLoaded || has("n+1")) {
                connection.createStatement().executeQuery("select role from member where id = 7");
                isLoaded = true;
            }
            return row >= 0;
        }
    }

    private static final class Sorted {
        static int sort(Connection connection) throws SQLException {
            one(connection, text("id, rank", "item"));
            List<Integer> rows = new ArrayList<>();
            for (int i = 0; i < ROWS; i++) {
                rows.add(i * 7 % ROWS);
            }
            rows.sort((one, other) -> Integer.compare(rank(connection, one), rank(connection, other)));
            return rows.get(0);
        }

        private static int rank(Connection connection, int row) {
            try {
                if (has("n+1")) {
                    connection.createStatement().executeQuery("select rank from item where id = " + row);
                }
                return row;
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** A driver that does nothing. */
    private static final class Fake {
        static Connection connect() {
            return fake(Connection.class);
        }

        private static <T> T fake(Class<T> type) {
            return type.cast(Proxy.newProxyInstance(Seeds.class.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                Class<?> result = method.getReturnType();
                if (result == Statement.class || result == PreparedStatement.class || result == ResultSet.class) {
                    return fake(result);
                }
                return result == int.class ? (Object) 0 : result == int[].class ? new int[0] : result == boolean.class ? (Object) false : null;
            }));
        }
    }
}
