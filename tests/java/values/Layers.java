import java.io.IOException;
import java.io.PrintWriter;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.StringJoiner;

/** Writes classes that pass every call of a connection and its statements on, as a pool of connections does: {@code java Layers FOLDER}. */
final class Layers {
    private static final Class<?>[] TYPES = {java.sql.Connection.class, java.sql.Statement.class, java.sql.PreparedStatement.class};

    private Layers() {}

    public static void main(String[] args) throws IOException {
        for (Class<?> type : TYPES) {
            String name = "Passing" + type.getSimpleName();
            try (PrintWriter out = new PrintWriter(args[0] + "/" + name + ".java", "UTF-8")) {
                out.println("final class " + name + " implements " + type.getName() + " {");
                out.println("    private final " + type.getName() + " inner;");
                out.println("    " + name + "(" + type.getName() + " inner) { this.inner = inner; }");
                for (Method method : type.getMethods()) {
                    if (!Modifier.isStatic(method.getModifiers())) {
                        write(method, out);
                    }
                }
                out.println("}");
            }
        }
    }

    private static void write(Method method, PrintWriter out) {
        StringJoiner parameters = new StringJoiner(", ");
        StringJoiner arguments = new StringJoiner(", ");
        for (Class<?> type : method.getParameterTypes()) {
            String name = "a" + parameters.toString().length();
            parameters.add(type.getCanonicalName() + " " + name);
            arguments.add(name);
        }
        StringJoiner thrown = new StringJoiner(", ", " throws ", "").setEmptyValue("");
        for (Class<?> type : method.getExceptionTypes()) {
            thrown.add(type.getName());
        }
        Class<?> result = method.getReturnType();
        String call = "inner." + method.getName() + "(" + arguments + ")";
        for (Class<?> type : TYPES) {
            if (result == type && !method.getName().startsWith("get")) {
                call = "new Passing" + type.getSimpleName() + "(" + call + ")";
            }
        }
        out.println("    @SuppressWarnings({\"deprecation\", \"unchecked\", \"rawtypes\"})");
        out.println("    public " + result.getCanonicalName() + " " + method.getName() + "(" + parameters + ")" + thrown + " { "
            + (result == void.class ? "" : "return (" + result.getCanonicalName() + ") ") + call + "; }");
    }
}
