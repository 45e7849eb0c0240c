import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import javax.servlet.GenericServlet;
import javax.servlet.Servlet;
import javax.servlet.ServletConfig;
import javax.servlet.ServletException;
import javax.servlet.ServletRequest;
import javax.servlet.ServletResponse;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

/** A container that gives requests to a servlet, through two layers. Other tests compile it for jakarta.servlet. */
final class Served {
    private Served() {}

    public static void main(String[] args) throws Exception {
        Servlet servlet = new Layer(new Layer(new Orders()));
        int count = args.length > 0 ? Integer.parseInt(args[0]) : 0;
        for (int i = 0; i < count; i++) {
            take(servlet, "GET", "/orders/of" + i);
        }
        if (count > 0) {
            return;
        }
        for (int i = 0; i < 5; i++) {
            take(servlet, "GET", "/orders/" + i + ";jsessionid=" + i);
        }
        take(servlet, "POST", "/orders");
        take(servlet, "GET\n[0m", "/a\u001b[31m\u202eb c\n\ud800/%0A?q=1");
        take(servlet, "GET", "/" + "x".repeat(10_000));
        take(servlet, "GET", "/tokens/eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9");
        take(servlet, "GET", "/people/ada@example.org/1f0e2d3c4b5a6978.json");
        take(servlet, "GET", "");
        take(servlet, "GET", null);
        take(servlet, request(() -> "GET", () -> {
            throw new IllegalStateException("no path");
        }));
        try {
            fails(servlet);
        } catch (ServletException e) {
            System.out.println(e.getMessage());
        }
        direct(new Orders());
        // No request of HTTP.
        servlet.service((ServletRequest) proxy(ServletRequest.class, () -> null, () -> null), response());
        System.out.println("done");
    }

    private static void take(Servlet servlet, String method, String path) throws ServletException, IOException {
        take(servlet, request(() -> method, () -> path));
    }

    private static void take(Servlet servlet, ServletRequest request) throws ServletException, IOException {
        servlet.service(request, response());
    }

    private static void fails(Servlet servlet) throws ServletException, IOException {
        servlet.service(request(() -> "DELETE", () -> "/orders/7"), response());
    }

    private static void direct(HttpServlet servlet) throws ServletException, IOException {
        servlet.service(request(() -> "HEAD", () -> "/direct"), response());
    }

    private static ServletRequest request(Supplier<String> method, Supplier<String> path) {
        return (ServletRequest) proxy(HttpServletRequest.class, method, path);
    }

    private static Object proxy(Class<?> type, Supplier<String> method, Supplier<String> path) {
        return Proxy.newProxyInstance(Served.class.getClassLoader(), new Class<?>[] {type}, (self, called, arguments) -> {
            switch (called.getName()) {
                case "getMethod":
                    return method.get();
                case "getRequestURI":
                    return path.get();
                case "getProtocol":
                    return "HTTP/1.1";
                case "getDateHeader":
                    return -1L;
                case "toString":
                    Runtime.getRuntime().halt(9);
                    return null;
                default:
                    return null;
            }
        });
    }

    private static ServletResponse response() {
        return (ServletResponse) Proxy.newProxyInstance(Served.class.getClassLoader(), new Class<?>[] {HttpServletResponse.class},
            (self, called, arguments) -> called.getReturnType() == boolean.class ? (Object) false : null);
    }

    /** As filters and frameworks do. */
    private static final class Layer extends GenericServlet {
        private final Servlet inner;

        Layer(Servlet inner) {
            this.inner = inner;
        }

        @Override
        public void init(ServletConfig config) {}

        @Override
        public void service(ServletRequest request, ServletResponse response) throws ServletException, IOException {
            if (request instanceof HttpServletRequest) {
                inner.service(request, response);
            }
        }
    }

    private static final class Orders extends HttpServlet {
        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            if (request.getMethod().equals("DELETE")) {
                throw new ServletException("not allowed");
            }
            if (request.getMethod().equals("POST")) {
                super.service(request, response);
            } else {
                doGet(request, response);
            }
        }

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) {
            read();
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) {}

        /** A value of another kind within the request. */
        private static void read() {
            try {
                Files.readString(Path.of("missing.txt"));
            } catch (IOException e) {
                // It is told of all the same.
            }
        }
    }
}
