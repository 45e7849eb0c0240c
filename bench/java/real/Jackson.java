import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Objects to JSON and back. */
public final class Jackson implements Real.Program {
    /** Of an order. */
    public static final class Item {
        public String name;
        public int amount;
        public double price;
        public List<String> tags = new ArrayList<>();
    }

    /** What is written and read. */
    public static final class Order {
        public long id;
        public String customer;
        public boolean paid;
        public List<Item> items = new ArrayList<>();
        public Map<String, String> notes = new LinkedHashMap<>();
    }

    private final ObjectMapper mapper = new ObjectMapper();
    private final List<Order> orders = new ArrayList<>();

    public Jackson() {
        for (int i = 0; i < 200; i++) {
            Order order = new Order();
            order.id = 1000003L * i;
            order.customer = "customer " + i % 17;
            order.paid = i % 3 == 0;
            for (int j = 0; j < 1 + i % 7; j++) {
                Item item = new Item();
                item.name = "item-" + i * j;
                item.amount = j;
                item.price = i / 8.0;
                item.tags.add("t" + j);
                order.items.add(item);
            }
            order.notes.put("n" + i, "a note \"quoted\" " + i);
            orders.add(order);
        }
    }

    @Override
    public long round() throws Exception {
        long sum = 0;
        for (int i = 0; i < 20; i++) {
            for (Order order : orders) {
                byte[] text = mapper.writeValueAsBytes(order);
                Order read = mapper.readValue(text, Order.class);
                sum += text.length + read.items.size() + mapper.readTree(text).size();
            }
        }
        return sum;
    }
}
