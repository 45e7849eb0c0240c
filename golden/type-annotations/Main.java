import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

public class Main {
    @Target(ElementType.TYPE_USE)
    @Retention(RetentionPolicy.RUNTIME)
    @interface A {
        int value() default 0;
    }

    static <T> T same(T t) {
        return t;
    }

    static int work(Object o) {
        @A(1) String text = (@A(2) String) o;
        List<@A(3) String> list = new @A(4) ArrayList<@A(5) String>();
        if (o instanceof @A(6) CharSequence) {
            @A(7) int @A(8) [] numbers = new @A(9) int @A(10) [3];
            list.add(Main.<@A(11) String>same(text));
            Supplier<@A(12) Object> make = @A(13) Object::new;
            try (@A(14) AutoCloseable none = () -> list.add("closed")) {
                numbers[0] = text.length();
            } catch (@A(15) Exception e) {
                @A(16) Exception copy = e;
                throw new @A(17) IllegalStateException(copy);
            }
            return numbers[0] + list.size() + (make.get() == null ? 1 : 0);
        }
        return -1;
    }

    public static void main(String[] args) {
        System.out.println(work("four"));
        try {
            work(4);
        } catch (ClassCastException e) {
            System.out.println("no string");
        }
    }
}
