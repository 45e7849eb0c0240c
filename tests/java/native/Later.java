package p_q;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Reads lines: {@code early} calls a native method of a class that is loaded from the start on, {@code late} of one that is not before. */
public final class Later {
    public static void main(String[] arguments) throws Exception {
        System.loadLibrary("registered");
        Exported.add(1, 2);
        System.out.println("ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            call(line);
            System.out.println(line);
        }
        System.out.println("end");
    }

    private static void call(String line) {
        if (line.equals("early")) {
            Exported.add(1, 2);
        } else {
            SelfRegistered.three(1);
        }
    }
}
