import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;

/**
 * A program with many classes that are loaded, one among them that cannot be linked, as programs have whose optional libraries are
 * missing, and one that is linked later. It does what it reads, line by line.
 */
public class ManyLoaded {
    public static void main(String[] args) throws Exception {
        ClassLoader loader = ManyLoaded.class.getClassLoader();
        byte[] template;
        try (InputStream in = loader.getResourceAsStream("Many0000.class")) {
            template = in.readAllBytes();
        }
        String text = new String(template, StandardCharsets.ISO_8859_1);
        for (int i = 1; i <= Integer.parseInt(args[0]); i++) {
            String name = String.format("Many%04d", i);
            byte[] bytes = text.replace("Many0000", name).getBytes(StandardCharsets.ISO_8859_1);
            MethodHandles.lookup().defineClass(bytes);
            Class.forName(name);
        }
        Class.forName("CannotBeLinked", false, loader);
        Class.forName("LinkedLater", false, loader);
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            if (line.equals("later")) {
                for (int i = 0; i < 10; i++) {
                    LinkedLater.call();
                }
            } else {
                Many0000.call();
            }
            System.out.println(line);
        }
        System.out.println("end");
    }
}

class Many0000 {
    static int call() {
        return 1;
    }
}

class LinkedLater {
    static int call() {
        return 1;
    }
}

class Supertype {
}

/** The test removes it. */
class Missing extends Supertype {
}

class CannotBeLinked {
    Supertype make() {
        return new Missing();
    }
}
