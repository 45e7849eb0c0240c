package io.github.instrument.maven;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.apache.maven.plugins.annotations.Component;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.resolution.ArtifactResolutionException;

/** What all goals have in common: they start the binary, and know nothing that it knows. */
abstract class Goal extends AbstractMojo {
    /** Nothing is done. */
    @Parameter(property = "instrument.skip", defaultValue = "false")
    private boolean skip;

    /** The binary. It wins over everything else. */
    @Parameter(property = "instrument.executable")
    private File executable;

    /** Where copies of the released binary and agent are put, that can be executed. Builds may share the folder. */
    @Parameter(property = "instrument.nativeDirectory", defaultValue = "${project.build.directory}/instrument-native")
    private File nativeDirectory;

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

    @Parameter(defaultValue = "${plugin}", readonly = true, required = true)
    private PluginDescriptor plugin;

    @Parameter(defaultValue = "${project.remotePluginRepositories}", readonly = true, required = true)
    private List<RemoteRepository> pluginRepositories;

    @Parameter(defaultValue = "${project.remoteProjectRepositories}", readonly = true, required = true)
    private List<RemoteRepository> projectRepositories;

    @Component
    private RepositorySystem system;

    /** What {@link #binary} found. */
    private File binary;

    /** Whether it is the artifact that was released with this plugin. */
    private boolean isReleased;

    /** The first error that the binary named; none yet. */
    private String firstError;

    @Override
    public final void execute() throws MojoExecutionException, MojoFailureException {
        if (skip) {
            getLog().info("skipped (instrument.skip)");
            skipped();
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

    /** It was to do nothing. */
    void skipped() throws MojoExecutionException {}

    abstract void run() throws MojoExecutionException, MojoFailureException;

    /**
     * The binary: the one that is named, or else the artifact that was released with this plugin, or else, where there is none for this
     * platform or none to be had, the one on the PATH.
     */
    File binary() throws MojoExecutionException {
        if (binary != null && binary.isFile()) {
            return binary;
        }
        if (executable != null) {
            if (!executable.isFile()) {
                throw new MojoExecutionException("instrument.executable: " + executable + " is no file");
            }
            if (!executable.canExecute()) {
                throw new MojoExecutionException("instrument.executable: " + executable + " is not executable; run: chmod +x " + executable);
            }
            return binary = executable.getAbsoluteFile();
        }
        String reason;
        Set<String> platforms = NativeFiles.platforms();
        if (platforms.contains(NativeFiles.platform())) {
            try {
                isReleased = true;
                return binary = natives().file("exe", "instrument");
            } catch (MojoExecutionException e) {
                if (!(e.getCause() instanceof ArtifactResolutionException)) {
                    throw e;
                }
                isReleased = false;
                reason = e.getMessage();
            }
        } else if (platforms.isEmpty()) {
            reason = "this plugin was built without binaries";
        } else {
            reason = "there is no binary for " + NativeFiles.platform() + ", only for " + String.join(", ", platforms);
        }
        binary = onPath();
        if (binary == null) {
            throw new MojoExecutionException(reason + "; and there is no `instrument` on the PATH. Build it from the sources with `cargo build --release`, "
                + "or install it, and name it with -Dinstrument.executable=FILE or <executable>");
        }
        if (!platforms.isEmpty()) {
            getLog().warn(reason + "; using " + binary + " of the PATH instead");
        }
        return binary;
    }

    /** The agent that belongs to the binary. */
    File agentLibrary() throws MojoExecutionException {
        File file = binary();
        if (isReleased) {
            return natives().file("so", "libinstrument_agent.so");
        }
        File answer = new File(made(directory), "agent.path");
        succeed(Collections.singletonList("agent"), answer);
        try {
            return new File(new String(Files.readAllBytes(answer.toPath()), StandardCharsets.UTF_8).trim());
        } catch (IOException e) {
            throw new MojoExecutionException("cannot read what " + file + " said of its agent: " + e, e);
        } finally {
            answer.delete();
        }
    }

    /** The binary if it is named, or was needed; else null. */
    File knownBinary() {
        return binary != null ? binary : executable;
    }

    private NativeFiles natives() {
        // The plugin's own repositories, then those of the project's dependencies.
        List<RemoteRepository> repositories = new ArrayList<>(pluginRepositories);
        for (RemoteRepository repository : projectRepositories) {
            if (!repositories.contains(repository)) {
                repositories.add(repository);
            }
        }
        return new NativeFiles(system, session.getRepositorySession(), repositories, plugin.getVersion(), nativeDirectory);
    }

    private static File onPath() {
        String path = System.getenv("PATH");
        String name = File.separatorChar == '\\' ? "instrument.exe" : "instrument";
        for (String folder : path == null ? new String[0] : path.split(File.pathSeparator)) {
            File file = new File(folder.isEmpty() ? "." : folder, name);
            if (file.isFile() && file.canExecute()) {
                return file.getAbsoluteFile();
            }
        }
        return null;
    }

    /** Runs a command of the binary; what it says goes to the log, what it prints to {@code output}, if given. Returns its exit code. */
    int start(List<String> arguments, File output) throws MojoExecutionException {
        return start(arguments, output, null);
    }

    /** The same; what is neither a warning nor an error is kept in {@code kept}, if that is given, and not logged. */
    int start(List<String> arguments, File output, List<String> kept) throws MojoExecutionException {
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
            Process process = started(builder);
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(
                output == null ? process.getInputStream() : process.getErrorStream(), StandardCharsets.UTF_8))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (line.startsWith("error: ")) {
                        String error = line.substring("error: ".length());
                        firstError = firstError == null ? error : firstError;
                        getLog().error(error);
                    } else if (line.startsWith("warning: ")) {
                        getLog().warn(line.substring("warning: ".length()));
                    } else if (kept != null) {
                        kept.add(line);
                    } else {
                        getLog().info(line);
                    }
                }
            }
            return process.waitFor();
        } catch (IOException e) {
            throw new MojoExecutionException("cannot run " + command.get(0) + ": " + e.getMessage() + cure(e.getMessage()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MojoExecutionException("interrupted", e);
        }
    }

    /** A process that another thread of this JVM starts at the same time may hold a file that was just written open for a moment. */
    private static Process started(ProcessBuilder builder) throws IOException, InterruptedException {
        for (int attempt = 1;; attempt++) {
            try {
                return builder.start();
            } catch (IOException e) {
                if (attempt == 20 || !String.valueOf(e.getMessage()).contains("error=26")) {
                    throw e;
                }
                Thread.sleep(50);
            }
        }
    }

    /** What to do if a file that is there and executable cannot be run. */
    private static String cure(String message) {
        String text = String.valueOf(message);
        if (text.contains("error=13")) {
            return "; its file system may be mounted noexec: -Dinstrument.nativeDirectory=FOLDER puts the released binary into another folder";
        }
        if (text.contains("error=2,")) {
            return "; the released binary needs glibc, which Alpine does not have: build it from the sources, and name it with -Dinstrument.executable=FILE";
        }
        return "";
    }

    /** The same of a command that must succeed. */
    void succeed(List<String> arguments, File output) throws MojoExecutionException {
        int code = start(arguments, output);
        if (code != 0) {
            throw failure(arguments.get(0), code);
        }
    }

    /**
     * Runs a command that finds something or not: if it does and {@code fails}, all is an error, and the first line that begins so is that of
     * the build.
     */
    void judge(List<String> arguments, boolean fails, String begin) throws MojoExecutionException, MojoFailureException {
        List<String> found = new ArrayList<>();
        int code = start(arguments, null, found);
        boolean failed = code == 1 && fails && !found.isEmpty();
        for (String line : found) {
            if (failed) {
                getLog().error(line);
            } else {
                getLog().info(line);
            }
        }
        if (failed) {
            throw new MojoFailureException(found.stream().filter(line -> line.startsWith(begin)).findFirst().orElse(found.get(0)));
        }
        if (code == 1 && fails && found.isEmpty()) {
            throw new MojoFailureException("something differs: it is in the file that the options name");
        }
        if (code != 0) {
            throw failure(arguments.get(0) + " " + arguments.get(1), code);
        }
    }

    /** A command failed: what it said, for the lines above are not there under {@code mvn -q}. */
    MojoExecutionException failure(String command, int code) {
        String reason = firstError == null ? " failed with exit code " + code + "; the lines above say why" : ": " + firstError;
        return new MojoExecutionException("`instrument " + command + "`" + reason);
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
