import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Links and runs the blocks of a manifest, each in a class loader of its own that also holds its own copy of the
 * recording runtime. Arguments: manifest, folder of the compiled judge, output folder. Talks in lines that start with @.
 */
public final class Harness {
    private static final PrintStream REPORT = System.out;
    private static final long RUN_LIMIT_MS = 120_000;

    public static void main(String[] args) throws Exception {
        Path output = Paths.get(args[2]);
        String key = null;
        String main = null;
        List<String> files = new ArrayList<>();
        for (String line : Files.readAllLines(Paths.get(args[0]), StandardCharsets.UTF_8)) {
            String[] words = line.split("\t");
            if (words[0].equals("block")) {
                block(key, main, files, args[1], output);
                key = words[1];
                main = words[2];
                files = new ArrayList<>();
            } else {
                files.add(words[1]);
            }
        }
        block(key, main, files, args[1], output);
        REPORT.flush();
        System.exit(0);
    }

    private static void block(String key, String main, List<String> files, String judge, Path output) throws Exception {
        if (key == null) {
            return;
        }
        CaseLoader loader = new CaseLoader(judge, files);
        for (String file : files) {
            report("@linking", key, file);
            try {
                // Links, and so verifies, without initialising; needs no other class than verification does.
                loader.load(file).getDeclaredFields();
                report("@linked", key, file, "ok", "-");
            } catch (Throwable error) {
                String text = String.valueOf(error.getMessage());
                String message = text.replaceAll("[\\t\\n\\r]+", " ");
                report("@linked", key, file, error.getClass().getSimpleName(), message);
            }
        }
        if (!main.equals("-")) {
            run(key, main, new CaseLoader(judge, files), output);
        }
    }

    private static void run(String key, String main, CaseLoader loader, Path output) throws Exception {
        Class<?> recorder = Class.forName("instrument.runtime.Recorder", true, loader);
        java.lang.reflect.Method write = recorder.getMethod("write", String.class);
        String events = output.resolve(key + ".events").toString();
        PrintStream out = new PrintStream(new FileOutputStream(output.resolve(key + ".stdout").toFile()), true, "UTF-8");
        Thread hook = new Thread(() -> {
            try {
                write.invoke(null, events);
            } catch (ReflectiveOperationException error) {
                error.printStackTrace();
            }
        });
        Runtime.getRuntime().addShutdownHook(hook);
        int[] code = {0};
        Thread thread = new Thread(null, () -> {
            try {
                Class<?> type = Class.forName(main, false, loader);
                type.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
            } catch (InvocationTargetException error) {
                code[0] = 1;
                System.out.println("Exception in main: " + error.getCause().getClass().getName());
            } catch (Throwable error) {
                code[0] = 1;
                System.out.println("main: " + error);
            }
        }, "main-" + key, 1 << 20);
        thread.setContextClassLoader(loader);
        System.setOut(out);
        try {
            thread.start();
            thread.join(RUN_LIMIT_MS);
        } finally {
            System.setOut(REPORT);
        }
        if (thread.isAlive()) {
            report("@timeout", key);
            Runtime.getRuntime().halt(3);
        }
        out.close();
        Runtime.getRuntime().removeShutdownHook(hook);
        write.invoke(null, events);
        report("@ran", key, Integer.toString(code[0]));
    }

    private static void report(String... words) {
        REPORT.println(String.join("\t", words));
        REPORT.flush();
    }

    /** Defines the given files, whatever they are called; everything else comes from the judge or the platform. */
    private static final class CaseLoader extends URLClassLoader {
        private final Map<String, byte[]> byName = new LinkedHashMap<>();

        CaseLoader(String judge, List<String> files) throws Exception {
            super(new URL[] {new File(judge).toURI().toURL()}, ClassLoader.getSystemClassLoader().getParent());
            for (String file : files) {
                byte[] bytes = Files.readAllBytes(Paths.get(file));
                String name = nameOf(bytes);
                if (name != null) {
                    byName.put(name, bytes);
                }
            }
        }

        Class<?> load(String file) throws Exception {
            byte[] bytes = Files.readAllBytes(Paths.get(file));
            String name = nameOf(bytes);
            return name == null ? defineClass(null, bytes, 0, bytes.length) : loadClass(name);
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            byte[] bytes = byName.get(name);
            return bytes == null ? super.findClass(name) : defineClass(null, bytes, 0, bytes.length);
        }

        /** this_class, or null when the bytes are no class file. */
        private static String nameOf(byte[] bytes) {
            try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
                if (in.readInt() != 0xCAFEBABE) {
                    return null;
                }
                in.readInt();
                int count = in.readUnsignedShort();
                Object[] pool = new Object[count];
                for (int i = 1; i < count; i++) {
                    int tag = in.readUnsignedByte();
                    switch (tag) {
                        case 1:
                            pool[i] = in.readUTF();
                            break;
                        case 7:
                            pool[i] = in.readUnsignedShort();
                            break;
                        case 8: case 16: case 19: case 20:
                            in.readUnsignedShort();
                            break;
                        case 15:
                            in.readUnsignedByte();
                            in.readUnsignedShort();
                            break;
                        case 5: case 6:
                            in.readLong();
                            i++;
                            break;
                        default:
                            in.readInt();
                    }
                }
                in.readUnsignedShort();
                return ((String) pool[(Integer) pool[in.readUnsignedShort()]]).replace('/', '.');
            } catch (IOException | RuntimeException broken) {
                return null;
            }
        }
    }
}
