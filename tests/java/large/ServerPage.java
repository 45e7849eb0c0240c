import java.io.IOException;
import java.util.Collections;
import java.util.Map;

//@calls _jspService 3 1
final class ServerPage {
    private int served;

    public void _jspService(Map<String, String> request, Appendable out) throws IOException {
        //@fill
        try {
            out.append("<html>");
            //@repeat 2600 out.append("<tr><td>row $i</td></tr>\n");
            if (request.get("fail") != null) {
                throw new IOException(request.get("fail"));
            }
            out.append(request.getOrDefault("user", "nobody"));
        } catch (RuntimeException e) {
            out.append(e.getMessage());
        } finally {
            served++;
            out.append("</html>");
        }
    }

    static void run() throws IOException {
        ServerPage page = new ServerPage();
        for (Map<String, String> request : new Map[] {
                Collections.emptyMap(), Collections.singletonMap("user", "me"), Collections.singletonMap("fail", "page") }) {
            StringBuilder out = new StringBuilder();
            try {
                page._jspService(request, out);
            } catch (IOException e) {
                System.out.println(e.getMessage());
            }
            System.out.println(out.length() + " " + out.toString().hashCode() + " " + page.served);
        }
    }
}
