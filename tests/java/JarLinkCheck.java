import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.security.SecureClassLoader;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Links every class of a jar without initialising it, and prints {@code entry<TAB>result} for each: {@code ok}, or the
 * error's class and the first line of its message.
 *
 * <p>{@code java JarLinkCheck JAR CLASS_PATH_JAR...}; all versions of a multi-release jar are linked that this VM loads.
 * {@code getDeclaredFields} makes HotSpot link a class, which verifies it, while resolving the fewest other types.
 */
class JarLinkCheck {
    public static void main(String[] arguments) throws Exception {
        List<URL> classPath = new ArrayList<>();
        for (int i = 1; i < arguments.length; i++) {
            classPath.add(Path.of(arguments[i]).toUri().toURL());
        }
        StringBuilder out = new StringBuilder();
        try (ZipFile zip = new ZipFile(arguments[0]);
                URLClassLoader parent = new URLClassLoader(
                        classPath.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
            TreeMap<Integer, Map<String, ZipEntry>> versions = versions(zip);
            Map<String, ZipEntry> visible = new LinkedHashMap<>();
            for (Map.Entry<Integer, Map<String, ZipEntry>> version : versions.entrySet()) {
                visible.putAll(version.getValue());
                ClassLoader loader = new JarLoader(zip, new LinkedHashMap<>(visible), parent);
                for (Map.Entry<String, ZipEntry> entry : version.getValue().entrySet()) {
                    out.append(entry.getValue().getName()).append('\t').append(link(entry.getKey(), loader)).append('\n');
                }
            }
        }
        System.out.write(out.toString().getBytes("UTF-8"));
        System.out.flush();
    }

    /** Class names by the version directory that holds them; 0 is the base. */
    private static TreeMap<Integer, Map<String, ZipEntry>> versions(ZipFile zip) {
        TreeMap<Integer, Map<String, ZipEntry>> versions = new TreeMap<>();
        for (Enumeration<? extends ZipEntry> e = zip.entries(); e.hasMoreElements();) {
            ZipEntry entry = e.nextElement();
            String name = entry.getName();
            int version = 0;
            if (name.startsWith("META-INF/versions/")) {
                String[] parts = name.split("/", 4);
                if (parts.length < 4 || !parts[2].matches("[0-9]{1,4}")) {
                    continue;
                }
                version = Integer.parseInt(parts[2]);
                name = parts[3];
            }
            if (name.endsWith(".class") && !name.endsWith("module-info.class") && version <= Runtime.version().feature()) {
                String className = name.substring(0, name.length() - 6).replace('/', '.');
                versions.computeIfAbsent(version, v -> new LinkedHashMap<>()).put(className, entry);
            }
        }
        return versions;
    }

    static String link(String name, ClassLoader loader) {
        try {
            Class.forName(name, false, loader).getDeclaredFields();
            return "ok";
        } catch (Throwable error) {
            String message = String.valueOf(error.getMessage()).split("\\R", 2)[0];
            return error.getClass().getName() + " " + message.replace('\t', ' ');
        }
    }

    private static final class JarLoader extends SecureClassLoader {
        private final ZipFile zip;
        private final Map<String, ZipEntry> classes;

        JarLoader(ZipFile zip, Map<String, ZipEntry> classes, ClassLoader parent) {
            super(parent);
            this.zip = zip;
            this.classes = classes;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                // The jar comes first, so that a copy in a dependency cannot stand in for the class under test.
                if (loaded == null && classes.containsKey(name)) {
                    loaded = findClass(name);
                }
                return loaded != null ? loaded : super.loadClass(name, resolve);
            }
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            ZipEntry entry = classes.get(name);
            if (entry == null) {
                throw new ClassNotFoundException(name);
            }
            try (InputStream in = zip.getInputStream(entry)) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }
}
