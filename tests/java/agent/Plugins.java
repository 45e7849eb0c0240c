import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Calls plug-ins by reflection and by method handles that are not constants, each of them once for each line. Nothing else leads to them. */
public class Plugins {
    interface Plugin {
        int work(int n);
    }

    static class Invoked {
        private static int work(int n) {
            return Deeper.help(n);
        }
    }

    static class Deeper {
        static int help(int n) {
            return n + 1;
        }
    }

    static class Constructed {
        final int n;

        Constructed(Integer n) {
            this.n = n;
        }
    }

    static class Made {
        Made() {}
    }

    static class Base {
        int work(byte a, long b, float c, double d, String e, int[] f) {
            return -1;
        }
    }

    static class Exact extends Base {
        @Override
        int work(byte a, long b, float c, double d, String e, int[] f) {
            return (int) (a + b + c + d) + e.length() + f.length;
        }
    }

    static class Arguments {
        static int work(int a, Object b) {
            return a + b.hashCode();
        }
    }

    static class Mixed {
        static int work(int n) {
            return n;
        }
    }

    /** Called by a proxy, whose class is not there yet. */
    static class Implemented implements Plugin {
        @Override
        public int work(int n) {
            return n;
        }
    }

    static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

    static MethodHandle handle(Class<?> of, MethodType type) throws ReflectiveOperationException {
        return LOOKUP.findStatic(of, "work", type);
    }

    @SuppressWarnings("deprecation")
    static int plug(int n) throws Throwable {
        MethodType one = MethodType.methodType(int.class, int.class);
        var method = Class.forName("Plugins$Invoked").getDeclaredMethod("work", int.class);
        method.setAccessible(true);
        int sum = (Integer) method.invoke(null, n);
        sum += ((Constructed) Class.forName("Plugins$Constructed").getDeclaredConstructor(Integer.class).newInstance(n)).n;
        Class.forName("Plugins$Made").newInstance();
        MethodHandle exact = LOOKUP.findVirtual(Base.class, "work",
            MethodType.methodType(int.class, byte.class, long.class, float.class, double.class, String.class, int[].class));
        Base base = (Base) Class.forName("Plugins$Exact").getDeclaredConstructor().newInstance();
        sum += (int) exact.invokeExact(base, (byte) 1, 2L, 3.5f, 4.5, "five", new int[6]);
        MethodHandle arguments = handle(Class.forName("Plugins$Arguments"), MethodType.methodType(int.class, int.class, Object.class));
        sum += (Integer) arguments.invokeWithArguments(7, "eight");
        MethodHandle mixed = MethodHandles.insertArguments(handle(Class.forName("Plugins$Mixed"), one), 0, n);
        sum += (int) mixed.invoke();
        Plugin plugin = (Plugin) Class.forName("Plugins$Implemented").getDeclaredConstructor().newInstance();
        return sum + plugin.work(n);
    }

    public static void main(String[] args) throws Throwable {
        // All of the classes are loaded before anything is recorded.
        plug(1);
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            System.out.println(line + " " + plug(Integer.parseInt(line.split(" ")[1])));
        }
        System.out.println("end");
    }
}
