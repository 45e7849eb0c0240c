import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;

public class Main {
    volatile int field;

    static long add(int a, long b) {
        return a + b;
    }

    public static void main(String[] args) throws Throwable {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        MethodHandle add = lookup.findStatic(Main.class, "add", MethodType.methodType(long.class, int.class, long.class));
        System.out.println((long) add.invokeExact(1, 2L) + (long) add.invoke((short) 3, 4));
        VarHandle field = lookup.findVarHandle(Main.class, "field", int.class);
        Main main = new Main();
        System.out.println(field.compareAndSet(main, 0, 5) + " " + (int) field.getVolatile(main));
    }
}
