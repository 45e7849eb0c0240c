import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import javax.servlet.ServletException;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.startup.Tomcat;
import org.apache.catalina.valves.ValveBase;
import org.apache.coyote.http2.Http2Protocol;

/**
 * {@link ServletHop} in Tomcat: StormHop KEYSTORE PORT [URL of the next one]. It closes connections soon, answers some requests before any servlet or filter sees
 * them, wants a password for some and closes the connection, and has TLS at the next port, where it talks HTTP/2 to who wants that.
 */
public class StormHop {
    public static void main(String[] args) throws Exception {
        Hop.next = args.length > 2 ? args[2] : null;
        StormApache4 client = new StormApache4();
        Hop.asks = nonce -> {
            // n7a: the request a of those for the request 7.
            int end = nonce.length() - 1;
            String header = Storm.header(Integer.parseInt(nonce.substring(1, end)), nonce.charAt(end) - 'a' + 1);
            int status = client.get(Hop.next + "/items/7?" + nonce, header, false, Storm.PATIENCE, 0);
            Hop.said("made", "GET", "/items/7", nonce, header);
            return status;
        };
        File folder = Files.createTempDirectory("tomcat").toFile();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.getPath());
        tomcat.setPort(Integer.parseInt(args[1]));
        Context context = tomcat.addContext("", folder.getPath());
        Tomcat.addServlet(context, "hop", new ServletHop()).setAsyncSupported(true);
        context.addServletMappingDecoded("/", "hop");
        context.getPipeline().addValve(new Early());
        Connector plain = tomcat.getConnector();
        plain.setProperty("keepAliveTimeout", "300");
        Connector secure = new Connector();
        secure.setPort(Integer.parseInt(args[1]) + 1);
        secure.setSecure(true);
        secure.setScheme("https");
        secure.setProperty("SSLEnabled", "true");
        secure.setProperty("keystoreFile", args[0]);
        secure.setProperty("keystorePass", "changeit");
        secure.addUpgradeProtocol(new Http2Protocol());
        tomcat.getService().addConnector(secure);
        tomcat.start();
        System.out.println("ready");
        System.out.println(plain.getLocalPort());
        while (System.in.read() >= 0) {
            // Until it is closed.
        }
        Hop.tell();
        tomcat.stop();
        tomcat.destroy();
        Hop.delete(folder);
    }

    /** Answers in front of the context. */
    private static class Early extends ValveBase {
        Early() {
            super(true);
        }

        @Override
        public void invoke(Request request, Response response) throws IOException, ServletException {
            if (request.getRequestURI().startsWith("/unseen/")) {
                response.sendError(404);
            } else if (isChallenged(request)) {
                response.setHeader("WWW-Authenticate", "Digest realm=\"storm\", nonce=\"1\"");
                response.setHeader("Connection", "close");
                response.sendError(401);
            } else {
                getNext().invoke(request, response);
            }
        }

        /** Some of what the first client asks for: it opens the same connection again then. */
        private static boolean isChallenged(Request request) {
            boolean isSecret = request.getRequestURI().startsWith("/secret/") && request.getHeader("Authorization") == null;
            return isSecret && Integer.parseInt(request.getQueryString().substring(1)) / Storm.PATHS.length % 6 == 0;
        }
    }
}
