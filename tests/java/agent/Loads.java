import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/** Loads classes in the ways that there are. Usage: Loads DIRECTORY, which is on the class path. Each method loads 300 classes. */
public class Loads {
    private static final int CLASSES = 300;
    static int sink;

    public static void main(String[] args) throws Exception {
        Path directory = Paths.get(args[0]);
        for (int i = 0; i < CLASSES; i++) {
            Files.write(directory.resolve(name(i) + ".class"), part(i));
        }
        byName();
        own(directory);
        parallel(directory);
        chain();
        concat("a");
        System.out.println("done " + sink);
    }

    static String name(int i) {
        return "LoadsPart" + (100 + i);
    }

    /** A copy of {@link LoadsPart999} with another name of the same length. */
    static byte[] part(int i) throws IOException {
        byte[] data = read(Loads.class.getResourceAsStream("/LoadsPart999.class"));
        String text = new String(data, "ISO-8859-1").replace("LoadsPart999", name(i));
        return text.getBytes("ISO-8859-1");
    }

    private static byte[] read(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int b = in.read(); b >= 0; b = in.read()) {
            out.write(b);
        }
        in.close();
        return out.toByteArray();
    }

    static void byName() throws Exception {
        for (int i = 0; i < CLASSES; i++) {
            Class.forName("LoadsPart" + (100 + i), false, Loads.class.getClassLoader());
        }
    }

    static void own(Path directory) throws Exception {
        ClassLoader loader = new Own(directory);
        for (int i = 0; i < CLASSES; i++) {
            loader.loadClass("LoadsPart" + (100 + i));
        }
    }

    static void parallel(Path directory) throws Exception {
        ClassLoader loader = new Parallel(directory);
        for (int i = 0; i < CLASSES; i++) {
            Class.forName("LoadsPart" + (100 + i), false, loader);
        }
    }

    static void chain() {
        sink += First.value;
    }

    static void concat(String text) {
        Runnable lambda = () -> sink += text.length();
        lambda.run();
    }

    static class First {
        static int value = Second.value + 1;
    }

    static class Second extends Base {
        static int value = new Third().number;
    }

    static class Base {
        static int value = 7;
    }

    static class Third {
        int number = 3;
    }

    /** Asks nobody else for the parts. */
    static class Own extends ClassLoader {
        private final Path directory;

        Own(Path directory) {
            this.directory = directory;
        }

        @Override
        public Class<?> loadClass(String name) throws ClassNotFoundException {
            if (!name.startsWith("LoadsPart")) {
                return super.loadClass(name);
            }
            byte[] data = Loads.file(directory, name);
            return defineClass(name, data, 0, data.length);
        }
    }

    static class Parallel extends ClassLoader {
        static {
            registerAsParallelCapable();
        }

        private final Path directory;

        Parallel(Path directory) {
            super(null);
            this.directory = directory;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            if (!name.startsWith("LoadsPart")) {
                return Loads.class.getClassLoader().loadClass(name);
            }
            byte[] data = Loads.file(directory, name);
            return defineClass(name, data, 0, data.length);
        }
    }

    static byte[] file(Path directory, String name) throws ClassNotFoundException {
        try {
            return Files.readAllBytes(directory.resolve(name + ".class"));
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }
}

class LoadsPart999 {
    int field;

    int add(int number) {
        return field += number;
    }

    void addAll() {
        for (int i = 0; i < 10; i++) {
            add(i);
        }
    }
}
