package instrument.runtime;

import java.io.File;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;

/** The paths of files. Only objects of the JDK's own classes are asked. */
final class FilePaths {
    static final String READ = "FILE read ";
    static final String WRITE = "FILE write ";
    static final String COPY = "FILE copy ";
    static final String MOVE = "FILE move ";
    static final String DELETE = "FILE delete ";

    private FilePaths() {}

    static Value of(String form, Object path) {
        String text = text(path);
        return text == null ? ValueKind.FILE.unknown : ValueNames.of(ValueKind.FILE, form, text, "", 0);
    }

    /** What opens a file, by how it is opened: a mode, an array of options or a set of them. */
    static Value opened(Object path, Object options) {
        return of(writes(options) ? WRITE : READ, path);
    }

    private static String text(Object path) {
        if (path instanceof String) {
            return (String) path;
        }
        if (path.getClass().getClassLoader() != null) {
            return null;
        }
        return path instanceof File ? ((File) path).getPath() : path instanceof Path ? path.toString() : null;
    }

    private static boolean writes(Object options) {
        if (options instanceof String) {
            return ((String) options).startsWith("rw");
        }
        if (options instanceof OpenOption[]) {
            for (OpenOption option : (OpenOption[]) options) {
                if (option == StandardOpenOption.WRITE || option == StandardOpenOption.APPEND) {
                    return true;
                }
            }
            return false;
        }
        if (!(options instanceof Collection) || options.getClass().getClassLoader() != null) {
            return false;
        }
        for (Object option : (Collection<?>) options) {
            if (option == StandardOpenOption.WRITE || option == StandardOpenOption.APPEND) {
                return true;
            }
        }
        return false;
    }
}
