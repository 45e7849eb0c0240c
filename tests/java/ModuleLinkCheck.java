import java.io.InputStream;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Links every class of some modules of the running image without initialising it, through the modules' own loaders: of those whose names begin
 * with the argument. It prints {@code module/entry<TAB>result} for each; with {@code --patch-module} this links the patched classes. {@code +} before
 * the result says that the class the module has now calls our runtime.
 *
 * <p>{@code java --add-modules ALL-SYSTEM ModuleLinkCheck java.}.
 */
class ModuleLinkCheck {
    public static void main(String[] arguments) throws Exception {
        StringBuilder out = new StringBuilder();
        Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        List<Path> files;
        try (Stream<Path> walk = Files.walk(modules)) {
            files = walk.filter(path -> path.toString().endsWith(".class")).sorted().collect(Collectors.toList());
        }
        for (Path file : files) {
            Path entry = modules.relativize(file);
            String module = entry.getName(0).toString();
            String inside = entry.subpath(1, entry.getNameCount()).toString();
            if (!module.startsWith(arguments[0]) || inside.equals("module-info.class")) {
                continue;
            }
            String name = inside.substring(0, inside.length() - 6).replace('/', '.');
            out.append(entry).append('\t').append(isRewritten(module, inside) ? "+" : "").append(link(module, name)).append('\n');
        }
        System.out.write(out.toString().getBytes("UTF-8"));
        System.out.flush();
    }

    private static boolean isRewritten(String module, String entry) throws Exception {
        Module in = ModuleLayer.boot().findModule(module).orElse(null);
        try (InputStream stream = in == null ? null : in.getResourceAsStream(entry)) {
            return stream != null && new String(stream.readAllBytes(), "ISO-8859-1").contains("instrument/runtime/");
        }
    }

    private static String link(String module, String name) {
        try {
            Module in = ModuleLayer.boot().findModule(module).orElse(null);
            if (in == null) {
                return "not-in-boot-layer";
            }
            Class<?> type = Class.forName(in, name);
            if (type == null) {
                return "not-found";
            }
            type.getDeclaredFields();
            return "ok";
        } catch (Throwable error) {
            String message = String.valueOf(error.getMessage()).split("\\R", 2)[0];
            return error.getClass().getName() + " " + message.replace('\t', ' ');
        }
    }
}
