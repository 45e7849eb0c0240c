import java.util.EnumSet;
import javax.servlet.DispatcherType;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.servlet.FilterHolder;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

/** {@link ServletHop} in Jetty: JettyHop [URL of the next one]. */
public class JettyHop {
    public static void main(String[] args) throws Exception {
        Hop.next = args.length > 0 ? args[0] : null;
        Server server = new Server(0);
        ServletContextHandler context = new ServletContextHandler();
        ServletHolder servlet = new ServletHolder(new ServletHop());
        servlet.setAsyncSupported(true);
        context.addServlet(servlet, "/");
        FilterHolder filter = new FilterHolder(new ServletHop.Passing());
        filter.setAsyncSupported(true);
        context.addFilter(filter, "/*", EnumSet.of(DispatcherType.REQUEST));
        server.setHandler(context);
        server.start();
        System.out.println("ready");
        System.out.println(((ServerConnector) server.getConnectors()[0]).getLocalPort());
        while (System.in.read() >= 0) {
            // Until it is closed.
        }
        Hop.tell();
        server.stop();
    }
}
