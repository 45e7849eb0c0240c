import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Links the classes whose names are in a file, and prints those which the virtual machine refuses.
 * {@code getDeclaredFields} links a class, which verifies it, without initialising it.
 */
class Link {
    public static void main(String[] arguments) throws Exception {
        List<String> names = Files.readAllLines(Path.of(arguments[0]), StandardCharsets.UTF_8);
        ClassLoader loader = ClassLoader.getSystemClassLoader();
        int refused = 0;
        for (String name : names) {
            try {
                Class.forName(name, false, loader).getDeclaredFields();
            } catch (LinkageError error) {
                refused++;
                System.out.println(name + ": " + error.getClass().getName() + ": " + error.getMessage());
            }
        }
        System.exit(refused == 0 ? 0 : 1);
    }
}
