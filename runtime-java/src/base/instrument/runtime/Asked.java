package instrument.runtime;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Public methods of libraries, and fields, that no compiler shows to the recorder, by their names. They are looked up in the class or interface that a
 * specification names, whatever class implements it. Objects go in and objects come out.
 */
final class Asked {
    private Asked() {}

    /** The class or interface of that name which a class is, extends or implements; null: there is none. */
    static Class<?> above(Class<?> type, String name) {
        if (type.getName().equals(name)) {
            return type;
        }
        Class<?> found = type.getSuperclass() == null ? null : above(type.getSuperclass(), name);
        for (Class<?> above : type.getInterfaces()) {
            found = found == null ? above(above, name) : found;
        }
        return found;
    }

    /** A method of a type; null: it has no such method. */
    static MethodHandle method(Class<?> type, String name, Class<?>... parameters) {
        try {
            MethodHandle handle = MethodHandles.publicLookup().unreflect(type.getMethod(name, parameters));
            return handle.asType(MethodType.genericMethodType(handle.type().parameterCount()));
        } catch (ReflectiveOperationException e) {
            return null;
        } catch (LinkageError e) {
            return null;
        }
    }

    /** What gives the value of a field that is not public; null: it has none of that name, or nobody may look at it. */
    static MethodHandle field(Class<?> type, String name) {
        try {
            java.lang.reflect.Field field = type.getDeclaredField(name);
            field.setAccessible(true);
            return MethodHandles.lookup().unreflectGetter(field).asType(MethodType.genericMethodType(1));
        } catch (ReflectiveOperationException e) {
            return null;
        } catch (RuntimeException e) {
            // Its module is closed, or there is a security manager.
            return null;
        } catch (LinkageError e) {
            return null;
        }
    }

    /** What a method without parameters gives; null: nothing, or it throws. */
    static Object ask(MethodHandle question, Object of) {
        try {
            return question == null || of == null ? null : (Object) question.invokeExact(of);
        } catch (Throwable e) {
            return failed(e);
        }
    }

    /** The same of a method with one parameter. */
    static Object ask(MethodHandle question, Object of, Object with) {
        try {
            return question == null || of == null ? null : (Object) question.invokeExact(of, with);
        } catch (Throwable e) {
            return failed(e);
        }
    }

    /** The same of a method with two. */
    static Object ask(MethodHandle question, Object of, Object with, Object and) {
        try {
            return question == null || of == null ? null : (Object) question.invokeExact(of, with, and);
        } catch (Throwable e) {
            return failed(e);
        }
    }

    /** It is the program's own, and it will see that for itself. */
    private static Object failed(Throwable e) {
        if (e instanceof StackOverflowError || ThreadStop.is(e)) {
            throw (Error) e;
        }
        return null;
    }
}
