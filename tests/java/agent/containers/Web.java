import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.net.URL;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/** Serves the servlet of a web application, which is loaded child first, and asks it a few times. */
public class Web {
    public static void main(String[] args) throws Exception {
        java.util.logging.LogManager.getLogManager().reset();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(new File("base").getAbsolutePath());
        tomcat.setPort(0);
        Context context = tomcat.addContext("", new File(args[0]).getAbsolutePath());
        Tomcat.addServlet(context, "runs", "Runs");
        context.addServletMappingDecoded("/*", "runs");
        tomcat.start();
        int port = tomcat.getConnector().getLocalPort();
        for (int i = 0; i < 3; i++) {
            BufferedReader reader = new BufferedReader(
                new InputStreamReader(new URL("http://localhost:" + port + "/").openStream(), "UTF-8"));
            for (String line; (line = reader.readLine()) != null;) {
                System.out.println(line);
            }
            reader.close();
        }
        tomcat.stop();
        tomcat.destroy();
    }
}
