package instrument.runtime;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/** Reads paths, one a line, behind {@code file } or {@code http }; prints each without its literals. */
public final class PathTexts {
    public static void main(String[] args) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line; (line = lines.readLine()) != null;) {
            String path = line.substring(5);
            System.out.println(line.startsWith("file ") ? PathText.ofFile(path) : PathText.ofAddress(path, "", -1));
        }
    }
}
