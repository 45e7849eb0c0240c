import java.io.File;
import java.nio.file.Files;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

/** {@link ServletHop} in Tomcat: TomcatHop [URL of the next one]. */
public class TomcatHop {
    public static void main(String[] args) throws Exception {
        Hop.next = args.length > 0 ? args[0] : null;
        File folder = Files.createTempDirectory("tomcat").toFile();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.getPath());
        tomcat.setPort(0);
        Context context = tomcat.addContext("", folder.getPath());
        Tomcat.addServlet(context, "hop", new ServletHop()).setAsyncSupported(true);
        context.addServletMappingDecoded("/", "hop");
        FilterDef filter = new FilterDef();
        filter.setFilterName("passing");
        filter.setFilter(new ServletHop.Passing());
        filter.setAsyncSupported("true");
        context.addFilterDef(filter);
        FilterMap map = new FilterMap();
        map.setFilterName("passing");
        map.addURLPattern("/*");
        context.addFilterMap(map);
        tomcat.getConnector();
        tomcat.start();
        System.out.println("ready");
        System.out.println(tomcat.getConnector().getLocalPort());
        while (System.in.read() >= 0) {
            // Until it is closed.
        }
        Hop.tell();
        tomcat.stop();
        tomcat.destroy();
        Hop.delete(folder);
    }
}
