package host;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/** Loads a plugin twice: by a child of its own loader, which finds the class of the probes, and by one that does not. */
public class Host {
    static int work(int n) {
        return n + 1;
    }

    public static void main(String[] arguments) throws Exception {
        URL[] where = {Paths.get(arguments[0]).toUri().toURL()};
        ClassLoader own = Host.class.getClassLoader();
        for (ClassLoader parent : new ClassLoader[] {own, own.getParent()}) {
            try (URLClassLoader loader = new URLClassLoader(where, parent)) {
                Object plugin = loader.loadClass("plugin.Plugin").getDeclaredConstructor().newInstance();
                System.out.println("plugin " + ((IntUnaryOperator) plugin).applyAsInt(20));
            }
        }
        List<String> list = new ArrayList<>();
        list.add(new Base().name());
        System.out.println(list + " " + new Called().name() + " " + work(work(1)));
    }
}
