import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.nio.file.Paths;
import java.util.Collections;

/** Runs the main of a module in a layer of its own, whose loader is new. */
public class Layers {
    public static void main(String[] args) throws Exception {
        ModuleFinder finder = ModuleFinder.of(Paths.get(args[0]));
        Configuration configuration = ModuleLayer.boot().configuration()
            .resolve(finder, ModuleFinder.of(), Collections.singleton(args[1]));
        ModuleLayer layer = ModuleLayer.boot().defineModulesWithManyLoaders(configuration, null);
        layer.findLoader(args[1]).loadClass(args[2])
            .getMethod("main", String[].class).invoke(null, (Object) new String[0]);
    }
}
