package io.github.instrument.gradle;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gradle.api.GradleException;
import org.gradle.api.logging.Logger;

/** Starts the binary. */
final class Command {
    private Command() {}

    /** Runs a command of the binary; what it says goes to the log, what it prints to {@code output}, if given. Returns its exit code. */
    static int start(File binary, List<String> arguments, File folder, File output, Logger logger) {
        return start(binary, arguments, folder, output, logger, null);
    }

    /** The same; what is neither a warning nor an error is kept in {@code kept}, if that is given, and not logged. */
    static int start(File binary, List<String> arguments, File folder, File output, Logger logger, List<String> kept) {
        List<String> command = new ArrayList<>();
        command.add(binary.getPath());
        command.addAll(arguments);
        logger.info(String.join(" ", command));
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder);
        if (output == null) {
            builder.redirectErrorStream(true);
        } else {
            builder.redirectOutput(output);
        }
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(
                output == null ? process.getInputStream() : process.getErrorStream(), StandardCharsets.UTF_8))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (line.startsWith("error: ")) {
                        logger.error(line.substring("error: ".length()));
                    } else if (line.startsWith("warning: ")) {
                        logger.warn(line.substring("warning: ".length()));
                    } else if (kept != null) {
                        kept.add(line);
                    } else {
                        logger.lifecycle(line);
                    }
                }
            }
            return process.waitFor();
        } catch (IOException e) {
            throw new GradleException("cannot run " + binary + ": " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new GradleException("interrupted", e);
        }
    }

    /** What is in the folder is of an earlier build. */
    static void clear(File folder) throws IOException {
        List<Path> old;
        // Links are not followed.
        try (Stream<Path> files = Files.walk(folder.toPath())) {
            old = files.filter(path -> !path.equals(folder.toPath())).sorted(Comparator.reverseOrder()).collect(Collectors.toList());
        }
        for (Path path : old) {
            Files.delete(path);
        }
    }
}
