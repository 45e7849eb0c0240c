package io.github.instrument.gradle;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gradle.api.GradleException;
import org.gradle.api.file.FileCollection;
import org.gradle.api.tasks.Classpath;
import org.gradle.api.tasks.InputFiles;
import org.gradle.api.tasks.OutputDirectory;
import org.gradle.api.tasks.PathSensitive;
import org.gradle.api.tasks.PathSensitivity;
import org.gradle.api.tasks.TaskAction;

/** Reports on profiles: {@code report.txt} and {@code report.html}, and the first of the own methods in the log. */
public class InstrumentReport extends BinaryTask {
    private FileCollection profiles;
    private FileCollection classes;
    private File into;

    /** Folders with profiles. */
    @InputFiles
    @PathSensitive(PathSensitivity.NONE)
    public FileCollection getProfiles() {
        return profiles;
    }

    public void setProfiles(FileCollection profiles) {
        this.profiles = profiles;
    }

    /** Folders of the program's own classes, whose methods come first. */
    @Classpath
    public FileCollection getClasses() {
        return classes;
    }

    public void setClasses(FileCollection classes) {
        this.classes = classes;
    }

    /** Where the report goes. */
    @OutputDirectory
    public File getInto() {
        return into;
    }

    public void setInto(File into) {
        this.into = into;
    }

    @TaskAction
    public void report() throws IOException {
        Command.clear(into);
        List<String> files = Command.profiles(profiles);
        if (files.isEmpty()) {
            getLogger().lifecycle("nothing to report: there are no profiles in " + profiles.getFiles());
            return;
        }
        List<String> own = new ArrayList<>();
        for (File folder : classes.getFiles()) {
            if (folder.isDirectory()) {
                own.addAll(Arrays.asList("--own-classes", folder.getPath()));
            }
        }
        File text = new File(into, "report.txt");
        File page = new File(into, "report.html");
        start(text, own, files, "report");
        // What was recorded as counts alone has no page.
        if (command(null, own, files, "view", "--quiet", "--html", page.getPath()) == 0) {
            getLogger().lifecycle("page:   " + page);
        }
        getLogger().lifecycle("report: " + text);
        start(null, own, files, "report", "--quiet", "--brief");
    }

    private void start(File output, List<String> own, List<String> files, String... words) {
        int code = command(output, own, files, words);
        if (code != 0) {
            throw new GradleException("`instrument report` failed with exit code " + code + "; the lines above say why");
        }
    }

    private int command(File output, List<String> own, List<String> files, String... words) {
        List<String> command = new ArrayList<>(Arrays.asList(words));
        command.addAll(own);
        command.addAll(files);
        return Command.start(getExecutable().getSingleFile(), command, getTemporaryDir(), output, getLogger());
    }
}
