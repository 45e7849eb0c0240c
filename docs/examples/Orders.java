import java.util.ArrayList;
import java.util.List;

/** Lists an order of fifty items, with one statement for all of them. */
public final class Orders {
    static class Connection {
        String prepareStatement(String sql) {
            return check(sql);
        }

        private String check(String sql) {
            return sql.trim();
        }
    }

    static class Item {
        final int number;

        Item(int number) {
            this.number = number;
        }

        int price(Connection connection) {
            return 100 + number;
        }
    }

    static class OrderService {
        final Connection connection = new Connection();

        int list(int items) {
            connection.prepareStatement("select * from items");
            List<Item> all = new ArrayList<>();
            for (int i = 0; i < items; i++) {
                all.add(new Item(i));
            }
            int total = 0;
            for (Item item : all) {
                total += item.price(connection);
            }
            return total;
        }
    }

    public static void main(String[] arguments) {
        System.out.println(new OrderService().list(50));
    }
}
