package io.github.instrument.maven;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.Parameter;

/** Goals that rewrite: their options, and whether anything has to be done. */
abstract class Rewriting extends Goal {
    /** Only classes and methods that match: patterns of {@code --include}. */
    @Parameter(property = "instrument.includes")
    private List<String> includes = new ArrayList<>();

    /** Not those that match: patterns of {@code --exclude}. */
    @Parameter(property = "instrument.excludes")
    private List<String> excludes = new ArrayList<>();

    /** What is inserted, as {@code --transform}. */
    @Parameter(property = "instrument.transform")
    private String transform;

    /** What is recorded by default, as {@code --record}. */
    @Parameter(property = "instrument.record")
    private String record;

    /** What becomes of methods that have no room for probes, as {@code --large-methods}: {@code skip} or {@code wrap}. */
    @Parameter(property = "instrument.largeMethods")
    private String largeMethods;

    /** How hard archives are compressed, as {@code --level}: from 1 to 12. */
    @Parameter(property = "instrument.level")
    private Integer level;

    /** The method ids of all modules; by default one file in the folder from which the build was started. */
    @Parameter(property = "instrument.ids", defaultValue = "${session.executionRootDirectory}/target/instrument.ids")
    private File ids;

    /** Rewrites, unless the same was done before. */
    void rewrite(File input, File output) throws MojoExecutionException {
        List<String> arguments = new ArrayList<>();
        arguments.add("rewrite");
        arguments.add(input.getPath());
        arguments.add("-o");
        arguments.add(output.getPath());
        arguments.add("--ids");
        arguments.add(ids.getPath());
        add(arguments, "--include", includes);
        add(arguments, "--exclude", excludes);
        if (transform != null) {
            arguments.add("--transform");
            arguments.add(transform);
        }
        if (record != null) {
            arguments.add("--record");
            arguments.add(record);
        }
        if (largeMethods != null) {
            arguments.add("--large-methods");
            arguments.add(largeMethods);
        }
        if (level != null) {
            arguments.add("--level");
            arguments.add(level.toString());
        }
        arguments.addAll(options);
        made(ids.getAbsoluteFile().getParentFile());
        made(output.getAbsoluteFile().getParentFile());
        try {
            String state = state(arguments, input);
            Path stamp = made(directory).toPath().resolve(output.getName() + ".state");
            if (output.exists() && Files.exists(stamp) && state.equals(new String(Files.readAllBytes(stamp), StandardCharsets.UTF_8))) {
                getLog().info("nothing to do: " + output + " is up to date");
                return;
            }
            Files.deleteIfExists(stamp);
            succeed(arguments, null);
            Files.write(stamp, state.getBytes(StandardCharsets.UTF_8));
        } catch (IOException | UncheckedIOException e) {
            throw new MojoExecutionException(e.toString(), e);
        }
    }

    private static void add(List<String> arguments, String option, List<String> values) {
        for (String value : values) {
            arguments.add(option);
            arguments.add(value);
        }
    }

    /** What the output depends on: the command, the binary, the ids, and every input file. */
    private String state(List<String> arguments, File input) throws IOException, MojoExecutionException {
        StringBuilder text = new StringBuilder(String.join("\n", arguments)).append('\n').append(file(binary().toPath()));
        File configuration = new File(project.getBasedir(), "instrument.toml");
        if (configuration.exists()) {
            text.append(file(configuration.toPath()));
        }
        text.append(idsKey()).append('\n');
        try (Stream<Path> files = Files.walk(input.toPath())) {
            files.filter(Files::isRegularFile).sorted().forEach(path -> {
                try {
                    text.append(content(path));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
        return text.toString();
    }

    /** Not the time: some compilers write the same bytes in each build. */
    private static String content(Path path) throws IOException {
        byte[] bytes = Files.readAllBytes(path);
        return path + " " + bytes.length + " " + Base64.getEncoder().encodeToString(NativeFiles.sha256().digest(bytes)) + "\n";
    }

    private static String file(Path path) throws IOException {
        return path + " " + Files.size(path) + " " + Files.getLastModifiedTime(path).toMillis() + "\n";
    }

    /** Which id file it is: after a clean build, ids are others. Modules that are built at the same time see the same key. */
    private String idsKey() throws IOException {
        Path key = ids.toPath().resolveSibling(ids.getName() + ".key");
        synchronized (Rewriting.class) {
            if (!ids.exists()) {
                // A key without ids is left over.
                Files.deleteIfExists(key);
                Files.write(ids.toPath(), new byte[0], StandardOpenOption.CREATE);
            }
            try {
                Files.write(key, UUID.randomUUID().toString().getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE_NEW);
            } catch (FileAlreadyExistsException e) {
                // Another module, or an earlier build, has made it.
            }
            return new String(Files.readAllBytes(key), StandardCharsets.UTF_8);
        }
    }
}
