package io.github.instrument.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gradle.api.DefaultTask;
import org.gradle.api.file.FileCollection;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.InputFiles;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.PathSensitive;
import org.gradle.api.tasks.PathSensitivity;
import org.gradle.api.tasks.TaskAction;

/** Checks snapshots of bytecode; the build fails if a class is not as blessed. {@code -Pinstrument.goldenAction} blesses, accepts or rejects. */
public class InstrumentGolden extends DefaultTask {
    private FileCollection executable;
    private File cases = getProject().file("src/test/golden");
    private String action = getProject().hasProperty("instrument.goldenAction") ? String.valueOf(getProject().property("instrument.goldenAction")) : "check";

    /** The folder of the cases. */
    @Internal
    public File getCases() {
        return cases;
    }

    public void setCases(File cases) {
        this.cases = cases;
    }

    /** check, bless, accept or reject. */
    @Input
    public String getAction() {
        return action;
    }

    public void setAction(String action) {
        this.action = action;
    }

    /** The binary. */
    @InputFiles
    @PathSensitive(PathSensitivity.NONE)
    public FileCollection getExecutable() {
        return executable;
    }

    public void setExecutable(FileCollection executable) {
        this.executable = executable;
    }

    @TaskAction
    public void judge() {
        if (!cases.isDirectory()) {
            getLogger().lifecycle("nothing to check: there is no folder " + cases);
            return;
        }
        List<String> arguments = new ArrayList<>(Arrays.asList("golden", action, cases.getPath()));
        Command.judge(executable.getSingleFile(), arguments, getTemporaryDir(), getLogger(), action.equals("check"), "FAIL ");
    }
}
