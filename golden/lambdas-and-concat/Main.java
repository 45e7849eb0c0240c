import java.util.function.Function;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

public class Main {
    final int n;

    Main(int n) {
        this.n = n;
    }

    static int twice(int n) {
        return 2 * n;
    }

    public static void main(String[] args) {
        int base = args.length + 10;
        Function<Integer, Integer> add = i -> i + base;
        IntUnaryOperator twice = Main::twice;
        Function<Integer, Main> make = Main::new;
        for (int i = 0; i < 3; i++) {
            Main main = make.apply(add.apply(twice.applyAsInt(i)));
            Supplier<String> text = () -> "n=" + main.n + ", base=" + base + '\u0001' + 1.5f;
            System.out.println(text.get());
        }
    }
}
