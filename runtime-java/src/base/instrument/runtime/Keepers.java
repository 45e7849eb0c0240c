package instrument.runtime;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.security.PrivilegedAction;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import javax.security.auth.Subject;

/** Finds the {@link Keeper} of this virtual machine, or makes it. */
final class Keepers {
    /** The lock of all copies. */
    private static final String LOCK = "instrument.keeper";
    private static final String NAME = Keepers.class.getPackage().getName() + ".Keeper";

    private final Class<?> keeper;

    private Keepers(Class<?> keeper) {
        this.keeper = keeper;
    }

    /** The keeper. */
    static Keepers get() throws ReflectiveOperationException, java.io.IOException {
        synchronized (LOCK) {
            Class<?> known = find();
            return new Keepers(known != null ? known : make());
        }
    }

    /** See {@link Keeper#later}. */
    void later(LongSupplier task, long ns) throws ReflectiveOperationException {
        keeper.getMethod("later", LongSupplier.class, long.class).invoke(null, task, ns);
    }

    /** See {@link Keeper#atEnd}. */
    void atEnd(IntConsumer task, AtomicBoolean ended) throws ReflectiveOperationException {
        keeper.getMethod("atEnd", IntConsumer.class, AtomicBoolean.class).invoke(null, task, ended);
    }

    /** That of another copy, by its thread. Asks no thread that may be the program's own class. */
    private static Class<?> find() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        Thread[] threads = new Thread[16];
        int count;
        while ((count = root.enumerate(threads, false)) == threads.length) {
            threads = new Thread[2 * count];
        }
        for (int i = 0; i < count; i++) {
            if (threads[i].getClass() == Thread.class && "instrument".equals(threads[i].getName())) {
                try {
                    return Class.forName(NAME, true, threads[i].getContextClassLoader());
                } catch (ClassNotFoundException e) {
                    // It is of another kind.
                }
            }
        }
        return null;
    }

    private static Class<?> make() throws ReflectiveOperationException, java.io.IOException {
        String path = NAME.replace('.', '/') + ".class";
        String own = Keepers.class.getResource("Keeper.class").toString();
        String place = own.substring(0, own.length() - path.length());
        if (place.startsWith("jar:file:") && place.endsWith(".jar!/")) {
            // Otherwise a cache would keep the jar open.
            place = place.substring(4, place.length() - 2);
        }
        try (URLClassLoader loader = loader(new URL(place))) {
            Class<?> keeper = Class.forName(NAME, true, loader);
            keeper.getMethod("start").invoke(null);
            return keeper;
        }
    }

    /**
     * A loader that knows nobody but the JDK. Until Java 23 such a loader refers to all code that is on the stack when it is made, and so to this copy. With the
     * rights of the JDK alone, and by a method handle, nothing but the JDK is.
     */
    private static URLClassLoader loader(URL place) throws ReflectiveOperationException {
        URL[] places = {place};
        try {
            URLClassLoader.class.getDeclaredField("acc");
        } catch (NoSuchFieldException e) {
            return new URLClassLoader(places, null);
        }
        MethodHandle constructor = MethodHandles.publicLookup().findConstructor(
            URLClassLoader.class, MethodType.methodType(void.class, URL[].class, ClassLoader.class));
        MethodHandle made = MethodHandles.insertArguments(constructor, 0, places, null);
        PrivilegedAction<?> action = MethodHandleProxies.asInterfaceInstance(
            PrivilegedAction.class, made.asType(MethodType.methodType(Object.class)));
        return (URLClassLoader) Subject.doAsPrivileged(null, action, null);
    }
}
