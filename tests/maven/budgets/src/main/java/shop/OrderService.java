package shop;

import java.util.ArrayList;
import java.util.List;

public class OrderService {
    private final Connection connection = new Connection();

    /** One query for all. */
    public List<Item> list(int count) {
        connection.prepareStatement("select item");
        List<Item> items = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            items.add(new Item(i));
        }
        return items;
    }

    /** One query for each. */
    public int total(int count) {
        int total = 0;
        for (Item item : list(count)) {
            total += item.price(connection);
        }
        return total;
    }
}
