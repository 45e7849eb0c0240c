import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Calls that are split by a value; probes.toml has methods of Told called in front of them and behind them. */
final class Probed {
    private Probed() {}

    public static void main(String[] args) throws Exception {
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:probed")) {
            texts(connection);
            prepared(connection);
        }
        files();
        System.out.print(Told.TEXT);
    }

    private static void texts(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (int i = 0; i < 2; i++) {
                statement.executeQuery("select " + i);
            }
            try {
                statement.executeQuery("select nothing");
            } catch (SQLException e) {
                Told.TEXT.append("thrown\n");
            }
        }
    }

    private static void prepared(Connection connection) throws SQLException {
        PreparedStatement statement =
            connection.prepareStatement("select cast(? as int)", ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY);
        statement.setInt(1, 7);
        statement.executeQuery();
    }

    private static void files() throws IOException {
        Path path = Files.writeString(Path.of("file-1"), "text");
        new FileInputStream("file-1").close();
        Told.TEXT.append(Files.readString(path)).append('\n');
    }
}
