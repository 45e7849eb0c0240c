package host;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/** Says its process id, and calls a method for each line that it reads. */
public class Lines {
    static void step() {
        System.out.println("step");
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        System.out.println(ProcessHandle.current().pid());
        while (lines.readLine() != null) {
            step();
        }
    }
}
