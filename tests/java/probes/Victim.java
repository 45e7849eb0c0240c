package com.acme;

import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/** What tests/java/probes/rules.toml puts probes into. */
public class Victim {
    @Retention(RetentionPolicy.CLASS)
    @interface Audited {
        String[] value() default {};
    }

    interface Priced {
        default long price(long base) {
            return base + 1;
        }
    }

    static class Item implements Priced {
        final String name;
        int count;
        static double rate = 0.5;

        Item(String name, int count) {
            this.name = name;
            this.count = count;
        }

        Item(String name) {
            this(name.trim(), 1);
        }

        @Override
        public String toString() {
            return name + "x" + count;
        }
    }

    @Audited({"a", "b"})
    static class Ledger extends ArrayList<String> {
        void enter(String line) {
            add(line);
        }
    }

    private final List<String> lines = new ArrayList<>();

    int sum(int a, long b, double c, String d, boolean e, byte f, char g, float h, short i) {
        return a + (int) b + (int) c + d.length() + (e ? 1 : 0) + f + g + (int) h + i;
    }

    long twice(long x) {
        if (x < 0) {
            return -1;
        }
        return 2 * x;
    }

    String reassigned(String text, int kept) {
        if (text == null) {
            text = "none";
        }
        return text + kept;
    }

    int fails(String what, long number) throws IOException {
        if (number > 0) {
            try {
                Integer.parseInt(what);
            } catch (NumberFormatException caught) {
                throw new IOException(what, caught);
            }
        }
        return 7;
    }

    static int divide(int a, int b) {
        return a / b;
    }

    @Audited
    void audited() {
        lines.add("audited");
    }

    void notAudited() {
        lines.add("not");
    }

    long calls(Item item) {
        long price = item.price(41);
        String text = String.valueOf(price).concat("!");
        StringBuilder builder = new StringBuilder(text);
        builder.append(3).append(2.5).append('c');
        lines.add(builder.toString());
        return price;
    }

    int fields(Item item) {
        item.count = 5;
        item.count += 2;
        Item.rate = Item.rate * 2;
        return item.count;
    }

    int arrays() {
        int[] one = new int[3];
        String[] two = new String[2];
        long[][] three = new long[2][4];
        new Object();
        Item kept = new Item(" a ");
        return one.length + two.length + three.length + kept.count;
    }

    int loop(int n) {
        int total = 0;
        for (int i = 0; i < n; i++) {
            total += i; // LINE
        }
        return total;
    }

    int supplied() {
        IntSupplier supplier = () -> 4;
        return supplier.getAsInt();
    }

    synchronized String locked(Object key) {
        synchronized (lines) {
            return key + "" + lines.size();
        }
    }

    public static void main(String[] arguments) {
        Victim victim = new Victim();
        System.out.println(victim.sum(1, 2L, 3.0, "four", true, (byte) 5, 'a', 6f, (short) 7));
        System.out.println(victim.twice(21) + " " + victim.twice(-3));
        System.out.println(victim.reassigned(null, 1));
        System.out.println(victim.reassigned("b", 2));
        try {
            victim.fails("x", 1);
        } catch (IOException expected) {
            System.out.println(expected.getMessage());
        }
        try {
            System.out.println(victim.fails("y", 0));
            divide(1, 0);
        } catch (IOException | ArithmeticException expected) {
            System.out.println(expected.getMessage());
        }
        victim.audited();
        victim.notAudited();
        Item item = new Item("i", 2);
        System.out.println(victim.calls(item));
        System.out.println(victim.fields(item));
        System.out.println(victim.arrays());
        System.out.println(victim.loop(3));
        System.out.println(victim.supplied());
        System.out.println(victim.locked("k"));
        new Ledger().enter("l");
    }
}
