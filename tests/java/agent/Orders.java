import java.util.ArrayList;
import java.util.List;

/** A program with something to see: two threads, recursion, a method that is called once for every row, exceptions, a wait. */
public class Orders {
    static int sink;

    static class Item {
        final int number;

        Item(int number) {
            this.number = number;
        }

        int price() {
            return query(number) * 3;
        }
    }

    static int query(int key) {
        int x = key;
        for (int i = 0; i < 200; i++) {
            x = x * 31 + i;
        }
        return x;
    }

    static int list(int rows) {
        List<Item> items = new ArrayList<>();
        query(rows);
        for (int i = 0; i < rows; i++) {
            items.add(new Item(i));
        }
        int sum = 0;
        for (Item item : items) {
            sum += item.price();
        }
        return sum;
    }

    static int depth(int n) {
        return n == 0 ? query(0) : depth(n - 1) + 1;
    }

    static int parse(String text) {
        try {
            return check(text);
        } catch (IllegalArgumentException e) {
            return -1;
        }
    }

    static int check(String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException();
        }
        return text.length();
    }

    static void serve() {
        for (int i = 0; i < 20; i++) {
            sink += list(50);
        }
    }

    static void idle() throws InterruptedException {
        Thread.sleep(20);
    }

    public static void main(String[] args) throws Exception {
        Thread worker = new Thread(Orders::serve, "worker");
        worker.start();
        sink += depth(100);
        for (int i = 0; i < 30; i++) {
            sink += parse(i % 3 == 0 ? "" : "order");
        }
        idle();
        worker.join();
        System.out.println("done");
    }
}
