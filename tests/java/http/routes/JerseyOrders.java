import java.io.File;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import javax.ws.rs.GET;
import javax.ws.rs.Path;
import javax.ws.rs.PathParam;
import javax.ws.rs.WebApplicationException;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.glassfish.jersey.internal.MapPropertiesDelegate;
import org.glassfish.jersey.server.ApplicationHandler;
import org.glassfish.jersey.server.ContainerRequest;
import org.glassfish.jersey.server.ResourceConfig;
import org.glassfish.jersey.servlet.ServletContainer;

/** Orders by JAX-RS in Tomcat, and whoever asks for them, in one program. */
public class JerseyOrders {
    /** The same without a container. */
    private static ApplicationHandler inner;

    @Path("orders")
    public static class Orders {
        @GET
        public String all() {
            return "all";
        }

        @GET
        @Path("{id}")
        public String one(@PathParam("id") int id) {
            if (id > 8) {
                throw new WebApplicationException(409);
            }
            return "order " + id;
        }

        @Path("/{id}/items/")
        public Items items() {
            return new Items();
        }
    }

    public static class Items {
        @GET
        @Path("{item: [0-9]+}")
        public String one(@PathParam("id") String order, @PathParam("item") int item) {
            return order + " item " + item;
        }
    }

    /** Asks for an order in this program, without a request. */
    @Path("/")
    public static class Batch {
        @GET
        @Path("batch")
        public String all() throws Exception {
            URI base = URI.create("http://within/");
            ContainerRequest request = new ContainerRequest(base, base.resolve("orders/3"), "GET", null, new MapPropertiesDelegate());
            return "batch " + inner.apply(request).get().getStatus();
        }
    }

    private static ResourceConfig orders() {
        return new ResourceConfig(Orders.class, Batch.class).property("jersey.config.server.wadl.disableWadl", true);
    }

    public static void main(String[] args) throws Exception {
        File folder = Files.createTempDirectory("tomcat").toFile();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.getPath());
        tomcat.setPort(0);
        Context context = tomcat.addContext("/shop", folder.getPath());
        Tomcat.addServlet(context, "orders", new ServletContainer(orders()));
        context.addServletMappingDecoded("/api/*", "orders");
        inner = new ApplicationHandler(orders());
        tomcat.getConnector();
        tomcat.start();
        String url = "http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + "/shop/api/";
        for (String request : args) {
            String[] parts = request.split(" ");
            HttpURLConnection connection = (HttpURLConnection) new URL(url + parts[1]).openConnection();
            connection.setRequestMethod(parts[0]);
            int status = connection.getResponseCode();
            String text = status == 200 ? new String(connection.getInputStream().readAllBytes()) : "";
            System.out.println(request + ": " + status + " " + text);
        }
        tomcat.stop();
        tomcat.destroy();
        Hop.delete(folder);
    }
}
