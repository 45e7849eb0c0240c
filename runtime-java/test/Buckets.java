package instrument.runtime;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/** Reads durations, one a line; prints for each in which bucket the recorder puts it. */
public final class Buckets {
    public static void main(String[] args) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        StringBuilder buckets = new StringBuilder();
        for (String line; (line = lines.readLine()) != null;) {
            // It counts from an octave below.
            buckets.append(Durations.bucket(Long.parseLong(line)) - 64).append('\n');
        }
        System.out.print(buckets);
    }
}
