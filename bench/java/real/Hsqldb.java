import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;

/** Orders written, read, joined and deleted again in an SQL database in memory, every other statement parsed anew. */
public final class Hsqldb implements Real.Program {
    private final Connection connection;

    public Hsqldb() throws Exception {
        connection = DriverManager.getConnection("jdbc:hsqldb:mem:real", "sa", "");
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table item(id integer primary key, name varchar(40), price integer)");
            statement.execute("create table line(id integer primary key, item integer, number integer)");
            statement.execute("create index lines on line(item)");
            for (int i = 0; i < 500; i++) {
                statement.execute("insert into item values(" + i + ", 'item " + i * 331 % 500 + "', " + i % 89 + ")");
            }
        }
    }

    @Override
    public long round() throws Exception {
        long sum = 0;
        try (PreparedStatement insert = connection.prepareStatement("insert into line values(?, ?, ?)");
                PreparedStatement one = connection.prepareStatement("select i.name, l.number from line l join item i on i.id = l.item where l.id = ?");
                Statement statement = connection.createStatement()) {
            for (int i = 0; i < 2000; i++) {
                insert.setInt(1, i);
                insert.setInt(2, i * 7 % 500);
                insert.setInt(3, i % 13);
                sum += insert.executeUpdate();
            }
            for (int i = 0; i < 2000; i++) {
                one.setInt(1, i);
                sum = 31 * sum + sum(one.executeQuery());
            }
            for (int i = 0; i < 200; i++) {
                sum = 31 * sum + sum(statement.executeQuery("select name, price from item where price = " + i % 89 + " order by name"));
            }
            sum = 31 * sum + sum(statement.executeQuery(
                    "select i.name, sum(l.number * i.price) from line l join item i on i.id = l.item group by i.name order by 2 desc, 1"));
            sum += statement.executeUpdate("delete from line");
        }
        return sum;
    }

    private static long sum(ResultSet rows) throws Exception {
        long sum = 0;
        while (rows.next()) {
            sum = 31 * sum + rows.getString(1).hashCode() + rows.getInt(2);
        }
        rows.close();
        return sum;
    }
}
