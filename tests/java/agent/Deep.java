import java.io.ByteArrayOutputStream;
import java.io.InputStream;

/** Loads classes where hardly any stack is left: at every depth near the limit, and above at some, where there is room even if frames are small. */
public class Deep {
    public static class Template0000 {
        public static int run() {
            return 1;
        }
    }

    static final class Definer extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    private static final int NEAR = 60;
    private static final int FAR = 1000;
    private static final Definer DEFINER = new Definer();
    private static String template;
    private static int next;
    private static int loaded;
    private static int overflows;
    /** Calls between the limit and this one, once it was reached. */
    private static int above = FAR;

    private static void down(int depth) {
        try {
            down(depth + 1);
        } catch (StackOverflowError e) {
            above = 0;
        }
        if (above < FAR && (above++ < NEAR || above % 32 == 0)) {
            load();
        }
    }

    private static void load() {
        try {
            String name = "Template" + String.valueOf(10000 + next++).substring(1);
            byte[] bytes = template.replace("Template0000", name).getBytes("ISO-8859-1");
            DEFINER.define(bytes).getMethod("run").invoke(null);
            loaded++;
        } catch (StackOverflowError e) {
            overflows++;
        } catch (LinkageError e) {
            overflows++;
        } catch (Exception e) {
            overflows++;
        }
    }

    public static void main(String[] args) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        InputStream in = Deep.class.getResourceAsStream("Deep$Template0000.class");
        for (int b; (b = in.read()) >= 0;) {
            out.write(b);
        }
        template = new String(out.toByteArray(), "ISO-8859-1");
        load();
        for (int round = 0; round < 40; round++) {
            down(0);
        }
        System.out.println(loaded > 100 && overflows > 100 ? "done" : loaded + " " + overflows);
    }
}
