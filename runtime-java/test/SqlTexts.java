package instrument.runtime;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/** Reads texts of statements, one a line, a line break in them as {@code ¶}; prints each without its literals. */
public final class SqlTexts {
    public static void main(String[] args) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line; (line = lines.readLine()) != null;) {
            System.out.println(SqlText.withoutLiterals(line.replace('\u00b6', '\n')));
        }
    }
}
