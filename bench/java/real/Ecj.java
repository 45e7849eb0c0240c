import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import org.eclipse.jdt.internal.compiler.batch.Main;

/** The Eclipse compiler compiles Java sources, in one thread. */
public final class Ecj implements Real.Program {
    @Override
    public long round() {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintWriter out = new PrintWriter(said);
        Main compiler = new Main(out, out, false, null, null);
        if (!compiler.compile(new String[] {"-8", "-nowarn", "-proc:none", "-d", "none", System.getProperty("sources")})) {
            throw new AssertionError(said.toString());
        }
        return compiler.exportedClassFilesCounter + 1;
    }
}
