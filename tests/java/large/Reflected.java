import java.io.IOException;
import java.io.ObjectStreamClass;
import java.io.Serializable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

//@calls big 2 1
public class Reflected implements Serializable {
    @Retention(RetentionPolicy.RUNTIME)
    @interface Named {
        String value();
    }

    private final List<String> names = Arrays.asList("b", "a");

    @SafeVarargs
    @Deprecated
    @Named("big")
    public static <T extends Comparable<T>> T big(@Named("at") int at, T... values) throws IOException {
        //@fill
        if (at < 0) {
            throw new IOException("negative");
        }
        Arrays.sort(values);
        return values[at];
    }

    static void run() throws Exception {
        Method[] methods = Reflected.class.getDeclaredMethods();
        Arrays.sort(methods, Comparator.comparing(Method::getName));
        for (Method method : methods) {
            if (!method.isSynthetic()) {
                System.out.println(method.toGenericString() + " " + Arrays.toString(method.getAnnotations())
                    + Arrays.deepToString(method.getParameterAnnotations()) + method.isVarArgs());
            }
        }
        System.out.println(ObjectStreamClass.lookup(Reflected.class).getSerialVersionUID());
        Method big = Reflected.class.getMethod("big", int.class, Comparable[].class);
        System.out.println(big.invoke(null, 1, new String[] { "z", "y", "x" }));
        try {
            big(-1, 1);
        } catch (IOException e) {
            System.out.println(e.getMessage());
        }
    }
}
