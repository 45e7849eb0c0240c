import java.io.File;
import java.util.HashMap;
import java.util.Map;
import java.util.ServiceLoader;
import org.osgi.framework.Bundle;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.launch.FrameworkFactory;

/** Runs the main of a class in a bundle, in the framework that is on the class path, as it is configured by default. */
public class Osgi {
    public static void main(String[] args) throws Exception {
        Map<String, String> configuration = new HashMap<String, String>();
        configuration.put("org.osgi.framework.storage", new File("storage").getAbsolutePath());
        Framework framework = ServiceLoader.load(FrameworkFactory.class).iterator().next().newFramework(configuration);
        framework.start();
        Bundle bundle = framework.getBundleContext().installBundle(new File(args[0]).toURI().toString());
        bundle.start();
        bundle.loadClass(args[1]).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        framework.stop();
        framework.waitForStop(10000);
    }
}
