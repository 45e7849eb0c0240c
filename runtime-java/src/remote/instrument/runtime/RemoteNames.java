package instrument.runtime;

import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.WeakHashMap;

/** Numbers, in the class names, of remote methods as {@code name(descriptor)}. */
@SuppressWarnings("deprecation") // java.rmi.server.Operation: what stubs have made by rmic still say
final class RemoteNames {
    private static final WeakHashMap<Object, Integer> KNOWN = new WeakHashMap<Object, Integer>();
    /** Names that the program gives at most; later ones are one for each kind. */
    private static final int MOST = 4096;
    /** Under the lock of {@link #KNOWN}. */
    private static final HashSet<String> GIVEN = new HashSet<String>();
    private static final String[] PRIMITIVES = {
        "void", "V", "boolean", "Z", "byte", "B", "char", "C", "short", "S", "int", "I", "long", "J", "float", "F", "double", "D"
    };

    private RemoteNames() {}

    /** Another recording begins: it has other numbers. */
    static void renew() {
        synchronized (KNOWN) {
            KNOWN.clear();
            GIVEN.clear();
        }
    }

    /** The number of a Method, an Operation, or of the text itself; 0: it is none of these. */
    static int of(Object method) {
        synchronized (KNOWN) {
            Integer known = KNOWN.get(method);
            if (known != null) {
                return known;
            }
        }
        String name = method instanceof Method
            ? nameOf((Method) method)
            : method instanceof String
                ? (String) method
                : method instanceof java.rmi.server.Operation ? nameOf(((java.rmi.server.Operation) method).getOperation()) : null;
        int number = name == null ? 0 : ClassNames.text(name);
        synchronized (KNOWN) {
            KNOWN.put(method, number);
        }
        return number;
    }

    /** The number of a name that the program has given to something of a kind, such as a queue for each of its answers. */
    static int given(String kind, String name) {
        String text = kind + (name.length() <= BoundedText.LONGEST ? name : BoundedText.of(new StringBuilder(name), name.length()));
        boolean isOne;
        synchronized (KNOWN) {
            isOne = GIVEN.contains(text) || GIVEN.size() < MOST && GIVEN.add(text);
        }
        return of(isOne ? text : kind + "(others)");
    }

    private static String nameOf(Method method) {
        StringBuilder name = new StringBuilder(method.getName()).append('(');
        for (Class<?> parameter : method.getParameterTypes()) {
            name.append(descriptor(parameter.getName()));
        }
        return name.append(')').append(descriptor(method.getReturnType().getName())).toString();
    }

    /** Of an operation as rmic writes it: {@code java.rmi.Remote lookup(java.lang.String)}, {@code java.lang.String list()[]}. */
    private static String nameOf(String operation) {
        int open = operation.indexOf('(');
        int close = operation.indexOf(')', open);
        int space = operation.lastIndexOf(' ', open);
        if (open < 0 || close < 0 || space < 0) {
            return null;
        }
        StringBuilder name = new StringBuilder(operation.substring(space + 1, open)).append('(');
        String parameters = operation.substring(open + 1, close).trim();
        if (!parameters.isEmpty()) {
            for (String parameter : parameters.split(",")) {
                name.append(descriptor(parameter.trim()));
            }
        }
        // That it returns an array may be said at the end.
        String returns = operation.substring(0, space).trim() + operation.substring(close + 1).trim();
        return name.append(')').append(descriptor(returns)).toString();
    }

    /** Of a type as it is written in a program, or by {@code Class.getName}. */
    private static String descriptor(String type) {
        if (type.startsWith("[")) {
            return type.replace('.', '/');
        }
        if (type.endsWith("[]")) {
            return "[" + descriptor(type.substring(0, type.length() - 2).trim());
        }
        for (int i = 0; i < PRIMITIVES.length; i += 2) {
            if (PRIMITIVES[i].equals(type)) {
                return PRIMITIVES[i + 1];
            }
        }
        return "L" + type.replace('.', '/') + ";";
    }
}
