package javax.servlet.http;

/** What the recorder asks of a request, for {@code ValuesBench}. */
public interface HttpServletRequest {
    String getMethod();

    String getRequestURI();
}
