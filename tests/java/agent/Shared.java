import java.util.ArrayList;
import java.util.List;

/** Interfaces, nested classes and a lambda, for archives of classes. */
public class Shared {
    interface Shape {
        int area(int x);
    }

    static class Square implements Shape {
        @Override
        public int area(int x) {
            return x * x;
        }
    }

    static class Half implements Shape {
        @Override
        public int area(int x) {
            return x / 2;
        }
    }

    static int used;

    static void use(String text) {
        used += text.length();
    }

    static int sum(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            Shape shape = i % 2 == 0 ? new Square() : new Half();
            sum += shape.area(i);
        }
        return sum;
    }

    public static void main(String[] args) {
        List<String> list = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            list.add("x" + i);
        }
        list.forEach(text -> use(text));
        System.out.println(sum(1000) + " " + used);
    }
}
