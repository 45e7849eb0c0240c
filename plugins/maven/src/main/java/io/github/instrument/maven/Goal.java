package io.github.instrument.maven;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;

/** What all goals have in common: they start the binary, and know nothing that it knows. */
abstract class Goal extends AbstractMojo {
    /** Nothing is done. */
    @Parameter(property = "instrument.skip", defaultValue = "false")
    private boolean skip;

    /** The binary. It wins over everything else; without it, {@code instrument} is looked for on the PATH. */
    @Parameter(property = "instrument.executable")
    private File executable;

    /** Further options of the command, one argument each. */
    @Parameter(property = "instrument.options")
    List<String> options = new ArrayList<>();

    /** Where profiles and reports are. */
    @Parameter(property = "instrument.directory", defaultValue = "${project.build.directory}/instrument")
    File directory;

    @Parameter(defaultValue = "${project}", readonly = true, required = true)
    MavenProject project;

    @Parameter(defaultValue = "${session}", readonly = true, required = true)
    MavenSession session;

    @Override
    public final void execute() throws MojoExecutionException, MojoFailureException {
        if (skip) {
            getLog().info("skipped (instrument.skip)");
        } else if (project.getPackaging().equals("pom") && !isForParents()) {
            getLog().debug("a project of packaging pom has no classes");
        } else {
            run();
        }
    }

    /** Whether it has a meaning in projects without classes. */
    boolean isForParents() {
        return false;
    }

    abstract void run() throws MojoExecutionException, MojoFailureException;

    /** The binary. */
    File binary() throws MojoExecutionException {
        if (executable != null) {
            if (!executable.isFile()) {
                throw new MojoExecutionException("instrument.executable: " + executable + " is no file");
            }
            if (!executable.canExecute()) {
                throw new MojoExecutionException("instrument.executable: " + executable + " is not executable; run: chmod +x " + executable);
            }
            return executable.getAbsoluteFile();
        }
        String path = System.getenv("PATH");
        String name = File.separatorChar == '\\' ? "instrument.exe" : "instrument";
        for (String folder : path == null ? new String[0] : path.split(File.pathSeparator)) {
            File file = new File(folder.isEmpty() ? "." : folder, name);
            if (file.isFile() && file.canExecute()) {
                return file.getAbsoluteFile();
            }
        }
        throw new MojoExecutionException("the binary `instrument` was not found on the PATH (this is " + System.getProperty("os.name") + " on "
            + System.getProperty("os.arch") + "); build it with `cargo build --release`, and name it with -Dinstrument.executable=FILE or <executable>");
    }

    /** Runs a command of the binary; what it says goes to the log, what it prints to {@code output}, if given. Returns its exit code. */
    int start(List<String> arguments, File output) throws MojoExecutionException {
        List<String> command = new ArrayList<>();
        command.add(binary().getPath());
        command.addAll(arguments);
        getLog().debug(String.join(" ", command));
        ProcessBuilder builder = new ProcessBuilder(command).directory(project.getBasedir());
        if (output == null) {
            builder.redirectErrorStream(true);
        } else {
            builder.redirectOutput(output);
        }
        builder.redirectInput(new File(File.separatorChar == '\\' ? "NUL" : "/dev/null"));
        try {
            Process process = builder.start();
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(
                output == null ? process.getInputStream() : process.getErrorStream(), StandardCharsets.UTF_8))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (line.startsWith("error: ")) {
                        getLog().error(line.substring("error: ".length()));
                    } else if (line.startsWith("warning: ")) {
                        getLog().warn(line.substring("warning: ".length()));
                    } else {
                        getLog().info(line);
                    }
                }
            }
            return process.waitFor();
        } catch (IOException e) {
            throw new MojoExecutionException("cannot run " + command.get(0) + ": " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MojoExecutionException("interrupted", e);
        }
    }

    /** The same of a command that must succeed. */
    void succeed(List<String> arguments, File output) throws MojoExecutionException {
        int code = start(arguments, output);
        if (code != 0) {
            throw new MojoExecutionException("`instrument " + arguments.get(0) + "` failed with exit code " + code + "; the lines above say why");
        }
    }

    /** A folder that is there. */
    static File made(File folder) throws MojoExecutionException {
        if (!folder.isDirectory() && !folder.mkdirs() && !folder.isDirectory()) {
            throw new MojoExecutionException("cannot make the folder " + folder);
        }
        return folder;
    }

    /** The profiles that were recorded, by name. */
    List<String> profiles() {
        File[] files = directory.listFiles((folder, name) -> name.endsWith(".iprof"));
        List<String> paths = new ArrayList<>();
        if (files != null) {
            Arrays.sort(files);
            for (File file : files) {
                paths.add(file.getPath());
            }
        }
        return paths;
    }
}
