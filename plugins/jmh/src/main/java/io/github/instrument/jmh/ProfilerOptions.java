package io.github.instrument.jmh;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.openjdk.jmh.profile.ProfilerException;

/**
 * Options of the profiler, KEY=VALUE with a semicolon between:
 *
 * <ul>
 * <li>{@code executable}: the binary; by default the system property {@code instrument.executable}, or {@code instrument} on the PATH
 * <li>{@code include}, {@code exclude}, {@code transform}, {@code library-calls}: as of the agent, values with a colon between
 * <li>{@code out}: a folder in which the profiles stay
 * <li>{@code top}: so many methods get lines of their own, those with the most calls; by default 5
 * </ul>
 */
final class ProfilerOptions {
    private static final String OWN = "org.openjdk.jmh.**:**.jmh_generated.**:joptsimple.**:io.github.instrument.**";

    final String executable;
    final int top;
    private final String out;
    private final String transform;
    private final StringBuilder forAgent = new StringBuilder();

    ProfilerOptions(String line) throws ProfilerException {
        String executable = System.getProperty("instrument.executable", "instrument");
        String transform = "method-events:allocation";
        String exclude = OWN;
        String out = null;
        int top = 5;
        for (String option : line.split(";")) {
            int equals = option.indexOf('=');
            String key = option.substring(0, Math.max(0, equals)).trim();
            String value = option.substring(equals + 1).trim();
            switch (option.trim().isEmpty() ? "" : key.isEmpty() ? "?" : key) {
                case "":
                    break;
                case "executable":
                    executable = value;
                    break;
                case "transform":
                    transform = value;
                    break;
                case "exclude":
                    exclude += ":" + value;
                    break;
                case "include":
                case "library-calls":
                    forAgent.append(',').append(key).append('=').append(value);
                    break;
                case "out":
                    out = value;
                    break;
                case "top":
                    top = number(value);
                    break;
                default:
                    throw new ProfilerException("instrument: unknown option " + option.trim()
                        + "; there are executable, include, exclude, transform, library-calls, out, top");
            }
        }
        this.executable = executable;
        this.transform = transform;
        this.out = out;
        this.top = top;
        forAgent.append(",exclude=").append(exclude).append(",transform=").append(transform);
    }

    private static int number(String text) throws ProfilerException {
        try {
            return Integer.parseUnsignedInt(text);
        } catch (NumberFormatException e) {
            throw new ProfilerException("instrument: top=" + text + " is no number");
        }
    }

    boolean countsAllocations() {
        return transform.contains("allocation");
    }

    String agent() throws IOException {
        return run(Collections.singletonList("agent")).get(0);
    }

    String agentOptions() throws IOException {
        File folder = out != null ? new File(out).getAbsoluteFile() : Files.createTempDirectory("instrument-jmh").toFile();
        if (!folder.isDirectory() && !folder.mkdirs()) {
            throw new IOException("cannot make the folder " + folder);
        }
        if (out == null) {
            folder.deleteOnExit();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                File[] profiles = folder.listFiles();
                for (File profile : profiles == null ? new File[0] : profiles) {
                    profile.delete();
                }
                folder.delete();
            }));
        }
        return "out=" + new File(folder, "%p.iprof").getPath().replace("\\", "\\\\").replace(",", "\\,") + forAgent;
    }

    /** What a command of the binary prints, by lines. */
    List<String> run(List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(executable);
        command.addAll(arguments);
        Path output = Files.createTempFile("instrument", ".out");
        Path errors = Files.createTempFile("instrument", ".err");
        try {
            Process process = new ProcessBuilder(command).redirectOutput(output.toFile()).redirectError(errors.toFile()).start();
            process.getOutputStream().close();
            if (process.waitFor() != 0) {
                throw new IOException(String.join(" ", command) + ": " + new String(Files.readAllBytes(errors), StandardCharsets.UTF_8).trim());
            }
            return Files.readAllLines(output, StandardCharsets.UTF_8);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            Files.deleteIfExists(output);
            Files.deleteIfExists(errors);
        }
    }
}
