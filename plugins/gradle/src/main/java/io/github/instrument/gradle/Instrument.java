package io.github.instrument.gradle;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.gradle.api.DefaultTask;
import org.gradle.api.GradleException;
import org.gradle.api.file.FileCollection;
import org.gradle.api.provider.Provider;
import org.gradle.api.tasks.CacheableTask;
import org.gradle.api.tasks.Classpath;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.InputFiles;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.OutputDirectory;
import org.gradle.api.tasks.PathSensitive;
import org.gradle.api.tasks.PathSensitivity;
import org.gradle.api.tasks.TaskAction;

/**
 * Rewrites jars and folders of classes into a folder of its own, in their order: {@code 0-main}, {@code 1-lib.jar}, .. The result depends on
 * contents and names alone, so a build cache may give it to another checkout. All of them are rewritten together, so no two methods have one
 * id, and no state is left behind.
 */
@CacheableTask
public class Instrument extends DefaultTask {
    private FileCollection from;
    private Provider<List<String>> arguments;
    private FileCollection executable;
    private File configuration;
    private File into;

    /** What is rewritten: contents in their order; not the times in jars, which are others in each checkout. */
    @Classpath
    public FileCollection getFrom() {
        return from;
    }

    /** What the outputs are called. */
    @Input
    public List<String> getNames() {
        List<String> names = new ArrayList<>();
        for (File input : inputs()) {
            names.add(input.getName());
        }
        return names;
    }

    public void setFrom(FileCollection from) {
        this.from = from;
    }

    /** Arguments of {@code instrument rewrite}. */
    @Input
    public List<String> getArguments() {
        return arguments.get();
    }

    void arguments(Provider<List<String>> arguments) {
        this.arguments = arguments;
    }

    /** The binary: of another one other bytes may come. */
    @InputFiles
    @PathSensitive(PathSensitivity.NONE)
    public FileCollection getExecutable() {
        return executable;
    }

    public void setExecutable(FileCollection executable) {
        this.executable = executable;
    }

    /** {@code instrument.toml} of the project, if there is one. */
    @InputFiles
    @PathSensitive(PathSensitivity.NONE)
    public List<File> getConfigurationFiles() {
        return configuration != null && configuration.isFile() ? Arrays.asList(configuration) : new ArrayList<>();
    }

    void configuration(File configuration) {
        this.configuration = configuration;
    }

    /** Where the rewritten ones are. */
    @OutputDirectory
    public File getInto() {
        return into;
    }

    public void setInto(File into) {
        this.into = into;
    }

    /** The rewritten class path, in the order of what it comes from. */
    @Internal
    public FileCollection getInstrumented() {
        Callable<List<File>> files = () -> {
            List<File> outputs = new ArrayList<>();
            for (File input : inputs()) {
                outputs.add(output(input, outputs.size()));
            }
            return outputs;
        };
        return getProject().files(files).builtBy(this);
    }

    private List<File> inputs() {
        return new ArrayList<>(from.getFiles());
    }

    private File output(File input, int index) {
        return new File(into, index + "-" + input.getName());
    }

    @TaskAction
    public void rewrite() throws IOException {
        Command.clear(into);
        File staged = getTemporaryDir();
        Command.clear(staged);
        List<String> command = new ArrayList<>(Arrays.asList("rewrite"));
        File last = null;
        int count = 0;
        int index = 0;
        for (File input : inputs()) {
            File output = output(input, index++);
            // Source sets name folders that may not be made.
            if (input.exists()) {
                File named = new File(staged, output.getName());
                stage(input.toPath(), named.toPath());
                command.add(named.getPath());
                last = output;
                count++;
            }
        }
        if (count == 0) {
            return;
        }
        // One output is named; several are put into a folder, each under the name of its input.
        command.addAll(Arrays.asList("-o", (count == 1 ? last : into).getPath()));
        if (!getConfigurationFiles().isEmpty()) {
            command.addAll(Arrays.asList("--config", configuration.getPath()));
        }
        command.addAll(getArguments());
        int code = Command.start(executable.getSingleFile(), command, staged, null, getLogger());
        Command.clear(staged);
        if (code != 0) {
            throw new GradleException("`instrument rewrite` failed with exit code " + code + "; the lines above say why");
        }
    }

    /** Gives an input a name of its own: a link, or where links cannot be made a copy. */
    private static void stage(Path input, Path named) throws IOException {
        try {
            Files.createSymbolicLink(named, input);
        } catch (IOException | UnsupportedOperationException e) {
            try (Stream<Path> files = Files.walk(input)) {
                for (Path file : (Iterable<Path>) files::iterator) {
                    Files.copy(file, named.resolve(input.relativize(file).toString()));
                }
            }
        }
    }
}
