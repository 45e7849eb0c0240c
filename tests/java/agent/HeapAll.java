import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;

/**
 * Makes objects and arrays in every way that Java has, most of them in classes of the JDK or in the virtual machine. What a call of each
 * method makes stands in front of it. {@code warm} calls each once, so that {@code measure} links nothing. Prints: how often it calls
 * each, then method, class and number.
 */
public class HeapAll {
    static final int TIMES = 300;
    static volatile Object sink;
    static final List<Plain> PLAINS = List.of(new Plain(), new Plain(), new Plain());
    static final int[] INTS = {1, 2, 3};
    static Constructor<Reflected> constructor;
    static MethodHandle handle;
    static Method parameters;
    static byte[] saved;
    static Object unsafe;
    static Method allocateInstance;
    static String nothing;
    static int number;

    static class Plain {}

    public static class Reflected {}

    public static class Handled {}

    static class Unsafed {}

    static class Copied implements Cloneable {
        @Override
        protected Object clone() throws CloneNotSupportedException {
            return super.clone();
        }
    }

    static final Copied COPIED = new Copied();

    static class Saved implements Serializable {
        private static final long serialVersionUID = 1;
        final long[] data = {1, 2};
    }

    enum Kind {
        ONE, TWO
    }

    interface Maker {
        void make() throws Throwable;
    }

    static void plain() {
        sink = new Plain();
    }

    static void primitives() {
        sink = new boolean[1];
        sink = new short[2];
        sink = new double[3];
    }

    static void references() {
        sink = new Plain[2];
    }

    static void nested() {
        sink = new float[2][3];
    }

    static void arrayClone() {
        sink = INTS.clone();
    }

    static void objectClone() throws Exception {
        sink = COPIED.clone();
    }

    static void reflectiveArray() {
        sink = Array.newInstance(Kind.class, 3);
    }

    static void reflectiveNested() {
        sink = Array.newInstance(char.class, 2, 3);
    }

    static void reflected() throws Exception {
        sink = constructor.newInstance();
    }

    static void handled() throws Throwable {
        sink = handle.invoke();
    }

    static void deserialised() throws Exception {
        sink = new ObjectInputStream(new ByteArrayInputStream(saved)).readObject();
    }

    static void boxed() {
        sink = Long.valueOf(number++ + 1000);
    }

    static void concatenated() {
        sink = "number " + number++;
    }

    static void lambda() {
        int captured = number++;
        sink = (IntSupplier) () -> captured;
    }

    static void allocated() throws Exception {
        sink = allocateInstance.invoke(unsafe, Unsafed.class);
    }

    static void arrayCopy() {
        sink = Arrays.copyOf(INTS, 5);
    }

    static void rangeCopy() {
        sink = Arrays.copyOfRange(PLAIN_ARRAY, 1, 3);
    }

    static final Plain[] PLAIN_ARRAY = new Plain[3];

    static void list() {
        sink = new ArrayList<Object>(10);
    }

    static void map() {
        Map<String, String> map = new HashMap<>();
        map.put("key", "value");
        sink = map;
    }

    static void listToArray() {
        sink = PLAINS.toArray(new Plain[0]);
    }

    static void characters() {
        sink = "characters".toCharArray();
    }

    static void encoded() {
        sink = "encoded".getBytes(StandardCharsets.UTF_8);
    }

    static void built() {
        sink = new StringBuilder(50).append(number++).toString();
    }

    static void buffer() {
        sink = ByteBuffer.allocate(16);
    }

    static void variable() {
        sink = Arrays.asList(nothing, nothing);
    }

    static void values() {
        sink = Kind.values();
    }

    static void parameterTypes() {
        sink = parameters.getParameterTypes();
    }

    static void stackTrace() {
        sink = new IllegalStateException().getStackTrace();
    }

    static void thrownByMachine() {
        try {
            sink = nothing.length();
        } catch (NullPointerException e) {
            sink = e;
        }
    }

    static void hot() {
        for (int i = 0; i < 200; i++) {
            sink = Arrays.copyOf(COPIED_LONGS, 3);
        }
    }

    static final long[] COPIED_LONGS = {1, 2};

    static final Maker[] MAKERS = {HeapAll::plain, HeapAll::primitives, HeapAll::references, HeapAll::nested, HeapAll::arrayClone,
        HeapAll::objectClone, HeapAll::reflectiveArray, HeapAll::reflectiveNested, HeapAll::reflected, HeapAll::handled,
        HeapAll::deserialised, HeapAll::boxed, HeapAll::concatenated, HeapAll::lambda, HeapAll::allocated, HeapAll::arrayCopy,
        HeapAll::rangeCopy, HeapAll::list, HeapAll::map, HeapAll::listToArray, HeapAll::characters, HeapAll::encoded, HeapAll::built,
        HeapAll::buffer, HeapAll::variable, HeapAll::values, HeapAll::parameterTypes, HeapAll::stackTrace, HeapAll::thrownByMachine,
        HeapAll::hot};

    /** What one call makes. Of a lambda the class has a name that is made up. */
    static final String[] MADE = {"plain HeapAll$Plain 1", "primitives boolean[] 1", "primitives short[] 1", "primitives double[] 1",
        "references HeapAll$Plain[] 1", "nested float[][] 1", "nested float[] 2", "arrayClone int[] 1", "objectClone HeapAll$Copied 1",
        "reflectiveArray HeapAll$Kind[] 1", "reflectiveNested char[][] 1", "reflectiveNested char[] 2", "reflected HeapAll$Reflected 1",
        "handled HeapAll$Handled 1", "deserialised HeapAll$Saved 1", "deserialised long[] 1", "boxed java.lang.Long 1",
        "concatenated java.lang.String 1", "concatenated byte[] 1", "lambda HeapAll$$Lambda 1", "allocated HeapAll$Unsafed 1",
        "arrayCopy int[] 1", "rangeCopy HeapAll$Plain[] 1", "list java.util.ArrayList 1", "list java.lang.Object[] 1",
        "map java.util.HashMap 1", "map java.util.HashMap$Node 1", "map java.util.HashMap$Node[] 1", "listToArray HeapAll$Plain[] 2",
        "characters char[] 1", "encoded byte[] 1", "built java.lang.StringBuilder 1", "built java.lang.String 1", "built byte[] 2",
        "buffer byte[] 1", "buffer java.nio.HeapByteBuffer 1", "variable java.lang.String[] 1", "variable java.util.Arrays$ArrayList 1",
        "values HeapAll$Kind[] 1", "parameterTypes java.lang.Class[] 1", "stackTrace java.lang.IllegalStateException 1",
        "stackTrace java.lang.StackTraceElement[] 2", "thrownByMachine java.lang.NullPointerException 1", "hot long[] 200"};

    static void warm(Maker maker) throws Throwable {
        maker.make();
        maker.make();
    }

    static void measure(Maker maker) throws Throwable {
        for (int i = 0; i < TIMES; i++) {
            maker.make();
        }
    }

    public static void main(String[] arguments) throws Throwable {
        constructor = Reflected.class.getConstructor();
        handle = MethodHandles.lookup().findConstructor(Handled.class, MethodType.methodType(void.class))
            .asType(MethodType.methodType(Object.class));
        parameters = Arrays.class.getMethod("copyOf", int[].class, int.class);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(new Saved());
        }
        saved = bytes.toByteArray();
        Class<?> type = Class.forName("sun.misc.Unsafe");
        Field field = type.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        unsafe = field.get(null);
        allocateInstance = type.getMethod("allocateInstance", Class.class);
        for (Maker maker : MAKERS) {
            warm(maker);
        }
        for (Maker maker : MAKERS) {
            measure(maker);
        }
        System.out.println(TIMES);
        for (String made : MADE) {
            System.out.println(made);
        }
    }
}
