import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class Main {
    static int field = Integer.getInteger("none", 1);
    private transient long other;

    static int called(int n) {
        return n + field;
    }

    interface Face {
        int FIVE = Integer.parseInt("5");

        void method();
    }

    public static void main(String[] args) throws Exception {
        for (Class<?> type : new Class<?>[] {Main.class, Face.class}) {
            List<String> lines = new ArrayList<>();
            for (Field f : type.getDeclaredFields()) {
                lines.add(f.getModifiers() + " " + f);
            }
            for (Method m : type.getDeclaredMethods()) {
                lines.add(m.getModifiers() + " " + m);
            }
            Collections.sort(lines);
            System.out.println(type.getModifiers() + " " + type.getDeclaredConstructors().length + " " + lines);
        }
        System.out.println(Main.class.getDeclaredMethod("called", int.class).invoke(null, 4));
    }
}
