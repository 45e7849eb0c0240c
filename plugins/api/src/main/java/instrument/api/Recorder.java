package instrument.api;

import java.io.File;
import java.lang.reflect.Method;

/** The recorder of this process, if there is one. */
public final class Recorder {
    /** Of the recorder, by reflection: this package needs no class of it. All are null where there is none. */
    private static final Method ENTER;
    private static final Method LEAVE;
    private static final Method PROFILE;

    static {
        Method enter = null;
        Method leave = null;
        Method profile = null;
        Class<?> boundaries = find();
        if (boundaries != null) {
            try {
                enter = boundaries.getMethod("enter", String.class);
                leave = boundaries.getMethod("leave", int.class);
                profile = boundaries.getMethod("profile");
            } catch (NoSuchMethodException e) {
                // A recorder of another version that has none of this.
                enter = null;
            }
        }
        ENTER = enter;
        LEAVE = leave;
        PROFILE = profile;
    }

    private Recorder() {}

    private static Class<?> find() {
        String name = "instrument.runtime.Boundaries";
        for (ClassLoader loader : new ClassLoader[] {Recorder.class.getClassLoader(), Thread.currentThread().getContextClassLoader(), null}) {
            try {
                return Class.forName(name, true, loader);
            } catch (ClassNotFoundException | LinkageError e) {
                // It is nowhere that this loader looks.
            }
        }
        return null;
    }

    /** Whether there is one, and it can tell boundaries apart. */
    public static boolean isPresent() {
        return ENTER != null;
    }

    /** The profile that this process is writing, complete at every moment; null where nothing is recorded, or nothing was yet. */
    public static File profile() {
        Object path = PROFILE == null ? null : call(PROFILE);
        return path == null ? null : new File(path.toString());
    }

    /** The number of the boundary; 0: it is not recorded. */
    static int enter(String name) {
        Object number = ENTER == null ? null : call(ENTER, name);
        return number == null ? 0 : (Integer) number;
    }

    static void leave(int number) {
        call(LEAVE, number);
    }

    private static Object call(Method method, Object... arguments) {
        try {
            return method.invoke(null, arguments);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("the recorder failed: " + e.getCause(), e);
        }
    }
}
