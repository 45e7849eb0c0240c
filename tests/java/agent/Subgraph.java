import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntUnaryOperator;

/** Handles requests, one a line, in every way in which a method can call another. Everything but {@code Later} is loaded at the start. */
public class Subgraph {
    interface Shape {
        int area();

        default int twice() {
            return 2 * area();
        }
    }

    static class Square implements Shape {
        @Override
        public int area() {
            return Help.square(3);
        }
    }

    abstract static class Round implements Shape {
        @Override
        public int area() {
            return factor() * 3;
        }

        abstract int factor();
    }

    static class Circle extends Round {
        @Override
        int factor() {
            return 3;
        }

        @Override
        public int twice() {
            return super.twice();
        }
    }

    static class Help {
        static int square(int n) {
            return n * n;
        }

        /** Called by what loads late. */
        static int rare(int n) {
            return n + 1;
        }

        static int reflected() {
            return 1;
        }
    }

    /** Made before any request; the JDK calls it. */
    static class Order implements Comparator<Integer> {
        @Override
        public int compare(Integer a, Integer b) {
            return key(a) - key(b);
        }

        private int key(int n) {
            return n % 7;
        }
    }

    static class Task extends Thread {
        @Override
        public void run() {
            work();
        }

        void work() {
            Help.square(2);
        }
    }

    /** Nobody but {@code outside} calls it. */
    static class Other {
        int n;

        static int count(int n) {
            return Help.square(n) + new Other().step(n);
        }

        int step(int n) {
            return this.n = n;
        }

        @Override
        public String toString() {
            return "other " + describe();
        }

        String describe() {
            return "" + n;
        }
    }

    static class Later {
        static final int BASE = base();

        static int base() {
            return 5;
        }

        static int late(int n) {
            return BASE + Help.rare(n);
        }
    }

    static final Comparator<Integer> ORDER = new Order();
    static final Shape[] SHAPES = {new Square(), new Circle()};

    static int handle(int n) throws Exception {
        int sum = 0;
        for (Shape shape : SHAPES) {
            sum += shape.twice();
        }
        IntUnaryOperator more = x -> Help.square(x);
        sum += more.applyAsInt(n);
        List<Integer> list = new ArrayList<>(List.of(9, 8, 7, 6, 5));
        list.sort(ORDER);
        sum += list.get(0);
        Task task = new Task();
        task.start();
        task.join();
        if (n > 0) {
            sum += handle(n - 1);
        }
        if (n == 10) {
            sum += Later.late(n);
        }
        if (n == 20) {
            sum += (Integer) Help.class.getDeclaredMethod("reflected").invoke(null);
        }
        return sum;
    }

    static int outside(int n) {
        return Other.count(n) + new Other().toString().length();
    }

    public static void main(String[] args) throws Exception {
        outside(1);
        handle(1);
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            int n = Integer.parseInt(words[1]);
            System.out.println(line + " " + (words[0].equals("handle") ? handle(n) : outside(n)));
        }
        System.out.println("end");
    }
}
