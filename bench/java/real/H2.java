import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;

/** Queries, joins and updates in a database in memory. */
public final class H2 implements Real.Program {
    private final Connection connection;

    public H2() throws Exception {
        connection = DriverManager.getConnection("jdbc:h2:mem:real");
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table customer(id int primary key, name varchar, city int)");
            statement.execute("create table sale(id int primary key, customer int, amount int)");
            statement.execute("create index sales on sale(customer)");
        }
        try (PreparedStatement insert = connection.prepareStatement("insert into customer values(?, ?, ?)")) {
            for (int i = 0; i < 2000; i++) {
                insert.setInt(1, i);
                insert.setString(2, "name " + i * 7919 % 2000);
                insert.setInt(3, i % 50);
                insert.execute();
            }
        }
        try (PreparedStatement insert = connection.prepareStatement("insert into sale values(?, ?, ?)")) {
            for (int i = 0; i < 10000; i++) {
                insert.setInt(1, i);
                insert.setInt(2, i * 31 % 2000);
                insert.setInt(3, i % 997);
                insert.execute();
            }
        }
    }

    @Override
    public long round() throws Exception {
        long sum = 0;
        try (PreparedStatement one = connection.prepareStatement("select name, city from customer where id = ?");
                PreparedStatement join = connection.prepareStatement(
                        "select c.city, sum(s.amount) from customer c join sale s on s.customer = c.id where c.city < ? group by c.city order by 2 desc");
                PreparedStatement update = connection.prepareStatement("update sale set amount = amount + ? where customer = ?")) {
            for (int i = 0; i < 3000; i++) {
                one.setInt(1, i % 2000);
                sum += sum(one);
            }
            for (int i = 0; i < 5; i++) {
                join.setInt(1, 10);
                sum += sum(join);
            }
            for (int sign = 1; sign >= -1; sign -= 2) {
                for (int i = 0; i < 500; i++) {
                    update.setInt(1, sign);
                    update.setInt(2, i);
                    sum += update.executeUpdate();
                }
            }
        }
        return sum;
    }

    private static long sum(PreparedStatement query) throws Exception {
        long sum = 0;
        try (ResultSet rows = query.executeQuery()) {
            while (rows.next()) {
                sum = 31 * sum + rows.getString(1).hashCode() + rows.getInt(2);
            }
        }
        return sum;
    }
}
