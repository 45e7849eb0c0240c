package io.github.instrument.junit;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Has the binary judge what happened within a boundary. */
final class Judge {
    private static final String ACTION = "instrument.gateAction";
    private static final String FOLDER = "instrument.gates";

    private final File profile;
    private final String boundary;

    Judge(File profile, String boundary) {
        this.profile = profile;
        this.boundary = boundary;
    }

    /** What is wrong with them; empty: nothing. */
    String budgets(List<String> budgets) throws IOException {
        Path file = Files.createTempFile("budgets", ".gate");
        try {
            Files.write(file, String.join("\n", budgets).getBytes(StandardCharsets.UTF_8));
            return check(file);
        } finally {
            Files.delete(file);
        }
    }

    /** The same of a gate, or writes it if that is what is to be done. */
    String gate(String name, ExtensionContext context) throws IOException {
        if (name.isEmpty() || name.contains("/") || name.contains("\\")) {
            throw new ExtensionConfigurationException("@Gate(\"" + name + "\"): the name of a gate is that of a file, without a folder");
        }
        Path folder = new File(property(FOLDER, "src/test/gates")).toPath();
        Path file = folder.resolve(name + ".gate");
        String action = property(ACTION, "check");
        if (action.equals("learn") || action.equals("bless")) {
            Files.createDirectories(folder);
            List<String> arguments = new ArrayList<>(Arrays.asList("gate", action));
            if (action.equals("learn")) {
                arguments.add("-o");
            }
            arguments.add(file.toString());
            arguments.addAll(runs());
            Answer answer = start(arguments);
            if (answer.code != 0) {
                throw new ExtensionConfigurationException("the gate " + file + " was not written: " + answer.text);
            }
            context.publishReportEntry("instrument", answer.text.trim());
            return "";
        }
        if (!action.equals("check")) {
            throw new ExtensionConfigurationException("-D" + ACTION + "=" + action + ": it is check, learn or bless");
        }
        if (!Files.exists(file)) {
            throw new ExtensionConfigurationException("there is no gate " + file.toAbsolutePath() + "; -D" + ACTION + "=learn writes it, "
                + "-D" + FOLDER + "=FOLDER names another folder");
        }
        return check(file);
    }

    /** This run, and those of earlier builds that were kept beside it. */
    private List<String> runs() {
        File[] all = profile.getAbsoluteFile().getParentFile().listFiles((folder, name) -> name.endsWith(".iprof"));
        List<String> runs = new ArrayList<>();
        for (File run : all == null ? new File[] {profile} : all) {
            runs.add(run.getPath());
        }
        return runs;
    }

    private String check(Path gate) throws IOException {
        Answer answer = start(Arrays.asList("gate", "check", gate.toString(), profile.getPath()));
        if (answer.code == 0) {
            return "";
        }
        if (answer.code == 1 && !answer.output.isEmpty()) {
            // How many findings there are can be seen.
            return answer.output.replaceFirst("(?s)\nfailed: [^\n]*\n*$", "\n");
        }
        throw new ExtensionConfigurationException("the budgets of " + boundary + " cannot be checked: "
            + answer.text.trim().replace(gate.toString() + ": ", ""));
    }

    /** What the binary said. */
    private static final class Answer {
        final int code;
        /** Its result. */
        final String output;
        /** That and what it said besides. */
        final String text;

        Answer(int code, String output, String text) {
            this.code = code;
            this.output = output;
            this.text = text;
        }
    }

    private Answer start(List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>();
        String binary = property("instrument.executable", "instrument");
        command.add(binary);
        command.addAll(arguments);
        command.add("--boundary");
        command.add(boundary);
        Path output = Files.createTempFile("gate", ".out");
        Path errors = Files.createTempFile("gate", ".err");
        try {
            Process process = new ProcessBuilder(command).redirectOutput(output.toFile()).redirectError(errors.toFile()).start();
            process.getOutputStream().close();
            int code = process.waitFor();
            String out = read(output);
            return new Answer(code, out, read(errors) + out);
        } catch (IOException e) {
            throw new UncheckedIOException("the budgets of " + boundary + " cannot be checked: `" + binary + "` cannot be run; name the binary with "
                + "-Dinstrument.executable=FILE in the JVM of the tests, or put `instrument` on the PATH", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } finally {
            Files.deleteIfExists(output);
            Files.deleteIfExists(errors);
        }
    }

    private static String read(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    private static String property(String key, String otherwise) {
        String value = System.getProperty(key);
        return value == null || value.isEmpty() ? otherwise : value;
    }
}
