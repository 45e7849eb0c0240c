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
import org.gradle.api.file.FileCollection;
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

    /**
     * Runs a command that finds something or not: if it does and {@code fails}, all is an error, and the first line that begins so is that of
     * the build.
     */
    static void judge(File binary, List<String> arguments, File folder, Logger logger, boolean fails, String begin) {
        List<String> found = new ArrayList<>();
        int code = start(binary, arguments, folder, null, logger, found);
        boolean failed = code == 1 && fails && !found.isEmpty();
        for (String line : found) {
            if (failed) {
                logger.error(line);
            } else {
                logger.lifecycle(line);
            }
        }
        if (failed) {
            throw new GradleException(found.stream().filter(line -> line.startsWith(begin)).findFirst().orElse(found.get(0)));
        }
        if (code == 1 && fails && found.isEmpty()) {
            throw new GradleException("something differs: it is in the file that the options name");
        }
        if (code != 0) {
            String what = arguments.get(0) + " " + arguments.get(1);
            throw new GradleException("`instrument " + what + "` failed with exit code " + code + "; the lines above say why");
        }
    }

    /** The profiles in folders, by name. */
    static List<String> profiles(FileCollection folders) {
        return folders.getAsFileTree().getFiles().stream().map(File::getPath).filter(path -> path.endsWith(".iprof")).sorted().collect(Collectors.toList());
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
