import java.io.IOException;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

/** Part of the web application. */
public class Runs extends HttpServlet {
    private static final long serialVersionUID = 1;
    private int requests;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.getWriter().println("request " + ++requests + ", loaded by its own loader: "
            + (Runs.class.getClassLoader() != HttpServlet.class.getClassLoader()));
    }
}
