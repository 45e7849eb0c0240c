package p_q;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;

/** An agent and its program: gives a class with native methods the bytes of its file again. */
public final class Redefined {
    private static Instrumentation instrumentation;

    public static void premain(String options, Instrumentation given) {
        instrumentation = given;
    }

    public static void main(String[] arguments) throws Exception {
        call();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (InputStream in = Redefined.class.getResourceAsStream("Exported.class")) {
            for (int read = in.read(); read >= 0; read = in.read()) {
                bytes.write(read);
            }
        }
        instrumentation.redefineClasses(new ClassDefinition(Exported.class, bytes.toByteArray()));
        System.out.println("redefined");
        call();
    }

    private static void call() {
        System.out.println(Exported.add(1, 2) + " " + Exported.add(1, 2) + " " + Exported.add(1, 2) + " "
            + Exported.add(1, 2) + " " + Exported.add(1, 2));
    }
}
