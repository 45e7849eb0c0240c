import java.util.ArrayList;
import java.util.List;

/** A list of orders asks the database once for all of them, and once more for the customer of each. */
public class NPlusOne {
    static final class Database {
        static long rows;

        static List<Integer> query(String text) {
            List<Integer> found = new ArrayList<>();
            for (int i = 0; i < (text.endsWith("orders") ? 50 : 1); i++) {
                found.add(i);
            }
            rows += found.size();
            return found;
        }
    }

    static final class Orders {
        static String list() {
            StringBuilder page = new StringBuilder();
            for (int order : Database.query("select id from orders")) {
                page.append(Customer.nameOf(order)).append('\n');
            }
            return page.toString();
        }
    }

    static final class Customer {
        static String nameOf(int order) {
            return "customer " + Database.query("select name from customer where id = " + order).get(0);
        }
    }

    public static void main(String[] args) {
        int length = 0;
        for (int request = 0; request < 20; request++) {
            length += Orders.list().length();
        }
        System.out.println(length + " " + Database.rows);
    }
}
