import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.spi.ToolProvider;

/**
 * Compiles for all tests of a run: a compiler that is warm takes a fifth of the processor time of one that starts. Each line of standard input
 * names a folder: {@code arguments} has the words, each with a zero byte behind it; what the compiler says goes to {@code said}, and then its
 * exit code to the pipe {@code answer}. {@code tests/javac} asks.
 */
public class CompileServer {
    public static void main(String[] args) throws Exception {
        // Also when whoever started it was killed.
        ProcessHandle.current().parent().orElseThrow().onExit().thenRun(() -> Runtime.getRuntime().halt(0));
        ToolProvider javac = ToolProvider.findFirst("javac").orElseThrow();
        ExecutorService pool = Executors.newCachedThreadPool();
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = requests.readLine()) != null; ) {
            Path folder = Path.of(line);
            pool.execute(() -> answer(javac, folder));
        }
        pool.shutdown();
    }

    private static void answer(ToolProvider javac, Path folder) {
        try {
            int code;
            try (PrintWriter said = new PrintWriter(Files.newBufferedWriter(folder.resolve("said")))) {
                code = javac.run(said, said, Files.readString(folder.resolve("arguments")).split("\0"));
            }
            Files.writeString(folder.resolve("answer"), code + "\n");
        } catch (Exception e) {
            e.printStackTrace();
        }
    }
}
