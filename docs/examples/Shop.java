/** A thousand items are wanted: every eighth constructor fails, and every seventh price of the others. */
public final class Shop {
    static class Item {
        final String name;

        Item(String name) {
            if (Integer.parseInt(name) % 8 == 0) {
                throw new IllegalArgumentException(name);
            }
            this.name = name;
        }
    }

    static final class Discounted extends Item {
        Discounted(String name) {
            super(name);
        }
    }

    private static int asked;

    static int price(String name) {
        return name.length() * 50 / (++asked % 7);
    }

    static int safePrice(String name) {
        try {
            return price(name);
        } catch (ArithmeticException e) {
            return 0;
        }
    }

    public static void main(String[] arguments) {
        int items = 0;
        int total = 0;
        for (int i = 0; i < 1000; i++) {
            try {
                Item item = new Discounted(new StringBuilder().append(i).toString());
                items++;
                total += safePrice(item.name);
            } catch (IllegalArgumentException e) {
                // Every eighth.
            }
        }
        System.out.println(items + " items, " + total);
    }
}
