import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import org.jacoco.core.instr.Instrumenter;
import org.jacoco.core.runtime.OfflineInstrumentationAccessGenerator;

/** The second opponent: JaCoCo's own jar instrumentation, {@code JacocoRewriter IN.jar OUT.jar}. It inserts probes, not try/finally. */
public class JacocoRewriter {
    public static void main(String[] arguments) throws Exception {
        Instrumenter instrumenter = new Instrumenter(new OfflineInstrumentationAccessGenerator());
        try (InputStream in = new BufferedInputStream(new FileInputStream(arguments[0]));
                OutputStream out = new BufferedOutputStream(new FileOutputStream(arguments[1]), 1 << 16)) {
            instrumenter.instrumentAll(in, out, arguments[0]);
        }
    }
}
