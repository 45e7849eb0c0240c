import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/** Loaders that answer few questions. Arguments: which one, then the main class. */
public class Picky extends ClassLoader {
    private static final List<String> ASKED = new ArrayList<String>();
    private final String how;
    private final String own;

    static {
        registerAsParallelCapable();
    }

    Picky(String how, String own) {
        super(null);
        this.how = how;
        this.own = own;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (how.equals("locked")) {
            // One lock for all loaders and threads.
            synchronized (ASKED) {
                return load(name);
            }
        }
        return load(name);
    }

    private Class<?> load(String name) throws ClassNotFoundException {
        Class<?> loaded = findLoadedClass(name);
        if (loaded != null) {
            return loaded;
        }
        if (name.equals(own) || name.startsWith(own + "$")) {
            byte[] bytes = read(name);
            return defineClass(name, bytes, 0, bytes.length);
        }
        if (how.equals("list") && name.startsWith("java.lang.Instrument")) {
            throw new ClassNotFoundException("not on the list: " + name);
        }
        if (name.startsWith("java.")) {
            ASKED.add(name);
            return super.loadClass(name, false);
        }
        if (how.equals("throws")) {
            throw new IllegalStateException("nobody may ask for " + name);
        }
        throw new ClassNotFoundException(name);
    }

    private static byte[] read(String name) throws ClassNotFoundException {
        try {
            InputStream in = Picky.class.getResourceAsStream("/" + name.replace('.', '/') + ".class");
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            for (int b; (b = in.read()) >= 0;) {
                out.write(b);
            }
            return out.toByteArray();
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    public static void main(String[] args) throws Exception {
        ClassLoader loader = new Picky(args[0], args[1]);
        loader.loadClass(args[1]).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
    }
}
