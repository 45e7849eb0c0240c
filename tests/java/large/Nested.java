//@release 17
import java.util.function.Supplier;

//@calls big 4
class Nested extends Outside {
    private int total;

    @Override
    Supplier<String> big(int n) {
        //@fill
        Runnable add = () -> total += n;
        add.run();
        class Local {
            private final int secret = n;

            int twice() {
                return 2 * secret + total;
            }
        }
        int twice = new Local().twice();
        Supplier<String> above = super.big(n);
        String method = Local.class.getEnclosingMethod().getName();
        return () -> method + " " + twice + " " + above.get() + " " + this.total;
    }

    static void run() {
        Nested nested = new Nested();
        Outside outside = nested;
        System.out.println(nested.big(1).get());
        System.out.println(outside.big(20).get());
    }
}

class Outside {
    Supplier<String> big(int n) {
        //@fill
        return () -> "outside " + n;
    }
}
