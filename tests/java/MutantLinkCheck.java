import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Links each class of an archive of changed classes, each in a class loader of its own that has the other classes from the
 * original, and prints {@code number<TAB>result}: {@code ok}, or the error's class and the first line of its message.
 *
 * <p>{@code java MutantLinkCheck MUTANTS ORIGINAL CLASS_PATH_JAR...}; the entries of MUTANTS are {@code number/a/B.class}.
 * If ORIGINAL is a directory that has one of this number, the other classes come from there.
 */
class MutantLinkCheck {
    public static void main(String[] arguments) throws Exception {
        List<URL> urls = new ArrayList<>();
        for (int i = 1; i < arguments.length; i++) {
            urls.add(Path.of(arguments[i]).toUri().toURL());
        }
        StringBuilder out = new StringBuilder();
        try (ZipFile zip = new ZipFile(arguments[0])) {
            List<ZipEntry> entries = new ArrayList<>();
            zip.stream().forEach(entries::add);
            entries.sort(Comparator.comparing(entry -> Integer.parseInt(entry.getName().split("/", 2)[0])));
            for (ZipEntry entry : entries) {
                String[] parts = entry.getName().split("/", 2);
                byte[] bytes;
                try (InputStream in = zip.getInputStream(entry)) {
                    bytes = in.readAllBytes();
                }
                String name = parts[1].substring(0, parts[1].length() - 6).replace('/', '.');
                Path own = Path.of(arguments[1], parts[0]);
                List<URL> path = Files.isDirectory(own) ? List.of(own.toUri().toURL()) : urls;
                out.append(parts[0]).append('\t').append(link(name, bytes, path)).append('\n');
            }
        }
        System.out.write(out.toString().getBytes("UTF-8"));
        System.out.flush();
    }

    static String link(String name, byte[] bytes, List<URL> urls) throws Exception {
        try (Loader loader = new Loader(name, bytes, urls)) {
            Class<?> changed = loader.changed();
            // Either links, and resolves few other types. Of interfaces, the first asks the virtual machine nothing.
            if (changed.isInterface()) {
                changed.getDeclaredFields();
            } else {
                changed.getDeclaredConstructors();
            }
            return "ok";
        } catch (Throwable error) {
            String message = String.valueOf(error.getMessage()).split("\\R", 2)[0];
            return error.getClass().getName() + " " + message.replace('\t', ' ');
        }
    }

    private static final class Loader extends URLClassLoader {
        private final String name;
        private final byte[] bytes;
        private Class<?> changed;

        Loader(String name, byte[] bytes, List<URL> urls) {
            super(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
            this.name = name;
            this.bytes = bytes;
        }

        synchronized Class<?> changed() {
            if (changed == null) {
                // Whatever name it has by now.
                changed = defineClass(null, bytes, 0, bytes.length);
            }
            return changed;
        }

        @Override
        protected Class<?> findClass(String wanted) throws ClassNotFoundException {
            Class<?> found = wanted.equals(name) ? changed() : super.findClass(wanted);
            if (!found.getName().equals(wanted)) {
                throw new ClassNotFoundException(wanted);
            }
            return found;
        }
    }
}
