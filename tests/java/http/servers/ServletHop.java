import java.io.IOException;
import javax.servlet.AsyncContext;
import javax.servlet.Filter;
import javax.servlet.FilterChain;
import javax.servlet.FilterConfig;
import javax.servlet.ServletException;
import javax.servlet.ServletRequest;
import javax.servlet.ServletResponse;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

/** What {@link Hop} serves, as a servlet behind a filter. */
public class ServletHop extends HttpServlet {
    /** Passes everything on. */
    public static class Passing implements Filter {
        @Override
        public void init(FilterConfig config) {}

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) throws IOException, ServletException {
            chain.doFilter(request, response);
        }

        @Override
        public void destroy() {}
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String path = request.getRequestURI();
        String nonce = request.getQueryString();
        Hop.said("served", request.getMethod(), path, nonce, request.getHeader("traceparent"));
        if (path.startsWith("/next/") && Hop.next != null) {
            Hop.step(nonce + "a");
            response.setStatus(Hop.step(nonce + "b"));
        } else if (path.startsWith("/missing/")) {
            response.sendError(404);
        } else if (path.startsWith("/moved/")) {
            response.sendRedirect("/items/7?" + nonce);
        } else if (path.startsWith("/later/")) {
            AsyncContext later = request.startAsync();
            later.start(() -> {
                try {
                    later.getResponse().getWriter().print("later");
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
                later.complete();
            });
        } else if (path.startsWith("/slow/")) {
            Hop.sleep(300);
            response.getWriter().print("late");
        } else if (path.startsWith("/broken/")) {
            response.setContentLength(100);
            response.getWriter().print("too little");
            response.flushBuffer();
            throw new IOException("broken");
        } else {
            response.getWriter().print("done " + nonce);
        }
    }
}
