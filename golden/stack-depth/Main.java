import java.util.List;
import java.util.stream.Collectors;

public class Main {
    static int depth() {
        return new Throwable().getStackTrace().length;
    }

    static int line() {
        return new Throwable().getStackTrace()[0].getLineNumber();
    }

    static int fails(int n) {
        int a = 10;
        return a
            / n;
    }

    static Class<?> caller() {
        return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).getCallerClass();
    }

    static final class Other {
        static Class<?> ask() {
            return caller();
        }
    }

    public static void main(String[] args) {
        int here = new Throwable().getStackTrace().length;
        System.out.println(depth() - here);
        System.out.println(line() + " " + line());
        System.out.println(Other.ask());
        List<String> names = StackWalker.getInstance().walk(frames ->
            frames.limit(1).map(f -> f.getMethodName() + ":" + f.getLineNumber()).collect(Collectors.toList()));
        System.out.println(names);
        System.out.println(fails(2));
        try {
            fails(0);
        } catch (ArithmeticException e) {
            StackTraceElement top = e.getStackTrace()[0];
            System.out.println(top.getMethodName() + ":" + top.getLineNumber() + " " + e.getStackTrace()[1].getMethodName());
        }
    }
}
