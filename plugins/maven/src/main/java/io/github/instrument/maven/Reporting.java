package io.github.instrument.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.Parameter;

/** Goals that report: a text and a page as files, and the first methods in the log. */
abstract class Reporting extends Goal {
    /** The classes of the module: their methods come first. */
    @Parameter(property = "instrument.classes", defaultValue = "${project.build.outputDirectory}")
    File classes;

    /** Whether there is a page for a browser as well. */
    @Parameter(property = "instrument.html", defaultValue = "true")
    private boolean html;

    /** Writes {@code NAME.txt} and {@code NAME.html} into a folder. */
    void report(List<String> profiles, List<File> classes, File folder, String name) throws MojoExecutionException {
        List<String> own = new ArrayList<>();
        for (File file : classes) {
            if (file.exists()) {
                own.addAll(Arrays.asList("--own-classes", shown(file)));
            }
        }
        remove(folder, name);
        File text = new File(made(folder), name + ".txt");
        succeed(command(Arrays.asList("report"), own, options, profiles), text);
        getLog().info("report: " + text);
        if (html) {
            File page = new File(folder, name + ".html");
            // What was recorded as counts alone has no page.
            int code = start(command(Arrays.asList("view", "--quiet", "--html", page.getPath()), own, profiles), null);
            if (code == 0) {
                getLog().info("page:   " + page);
            }
        }
        succeed(command(Arrays.asList("report", "--quiet", "--brief"), own, profiles), null);
    }

    /** Removes what an earlier build has reported. */
    static void remove(File folder, String name) throws MojoExecutionException {
        for (String extension : Arrays.asList(".txt", ".html")) {
            File file = new File(folder, name + extension);
            try {
                Files.deleteIfExists(file.toPath());
            } catch (IOException e) {
                throw new MojoExecutionException("cannot remove " + file + ", which an earlier build has written: " + e.getMessage(), e);
            }
        }
    }

    /** A path as a person would give it, who stands in the module's folder. */
    private String shown(File file) {
        Path base = project.getBasedir().toPath();
        return file.toPath().startsWith(base) ? base.relativize(file.toPath()).toString() : file.getPath();
    }

    @SafeVarargs
    private static List<String> command(List<String>... parts) {
        List<String> command = new ArrayList<>();
        for (List<String> part : parts) {
            command.addAll(part);
        }
        return command;
    }
}
