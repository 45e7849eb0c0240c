package instrument.runtime;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.nio.charset.Charset;

/** Says one line on the real standard error, past any stream that the program has put in its place. */
final class Log {
    private Log() {}

    @SuppressWarnings("resource") // closing it would close the program's standard error
    static void say(String message) {
        try {
            byte[] line = ("instrument: " + message + "\n").getBytes(Charset.defaultCharset());
            new FileOutputStream(FileDescriptor.err).write(line);
        } catch (Throwable e) {
            // There is nobody left to tell.
        }
    }
}
