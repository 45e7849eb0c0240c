package instrument.runtime;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.nio.charset.Charset;

/** Says one line on the real standard error, past any stream that the program has put in its place. */
final class Log {
    private Log() {}

    @SuppressWarnings("resource") // closing it would close the program's standard error
    static void say(String message) {
        String line = "instrument: " + message + "\n";
        try {
            new FileOutputStream(FileDescriptor.err).write(line.getBytes(Charset.defaultCharset()));
        } catch (SecurityException e) {
            // A security manager allows nothing but the program's own stream.
            try {
                System.err.print(line);
                System.err.flush();
            } catch (Throwable f) {
                // There is nobody left to tell.
            }
        } catch (Throwable e) {
            // There is nobody left to tell.
        }
    }
}
