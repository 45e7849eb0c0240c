package instrument.runtime;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/** Reads lines of a pattern, a class, a method and a descriptor with tabs between; prints for each whether the method fits. */
public final class Patterns {
    public static void main(String[] args) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line; (line = lines.readLine()) != null;) {
            String[] words = line.split("\t");
            System.out.println(new MethodPattern(words[0]).matches(words[1], words[2], words[3]));
        }
    }
}
