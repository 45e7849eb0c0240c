package io.github.instrument.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.gradle.api.GradleException;
import org.gradle.api.file.FileCollection;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.InputFiles;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.PathSensitive;
import org.gradle.api.tasks.PathSensitivity;
import org.gradle.api.tasks.TaskAction;

/** Checks profiles against a gate; the build fails if something grew. The project property {@code instrument.gateAction} learns or blesses. */
public class InstrumentGate extends BinaryTask {
    private FileCollection profiles;
    /** Names of tasks that were left out on the command line, some with the path of a project in front. */
    private final Set<String> excluded = new HashSet<>(getProject().getGradle().getStartParameter().getExcludedTaskNames());
    private File gate = new File(getProject().getProjectDir(), getProject().getName() + ".gate");
    private String action = property("instrument.gateAction", "check");

    /** Folders with profiles, such as those of a task that is recorded. */
    @InputFiles
    @PathSensitive(PathSensitivity.NONE)
    public FileCollection getProfiles() {
        return profiles;
    }

    public void setProfiles(FileCollection profiles) {
        this.profiles = profiles;
    }

    /** The gate. */
    @Internal
    public File getGate() {
        return gate;
    }

    public void setGate(File gate) {
        this.gate = gate;
    }

    /** check, learn or bless. */
    @Input
    public String getAction() {
        return action;
    }

    public void setAction(String action) {
        this.action = action;
    }

    @TaskAction
    public void judge() {
        // A folder of profiles is called after the task that is recorded.
        for (File folder : profiles.getFiles()) {
            String task = folder.getName();
            if (excluded.stream().anyMatch(name -> name.substring(name.lastIndexOf(':') + 1).equals(task))) {
                getLogger().lifecycle("nothing to judge: this build leaves out " + task + " (-x), and its profiles may be of other sources");
                return;
            }
        }
        List<String> files = Command.profiles(profiles);
        if (files.isEmpty() && !gate.isFile()) {
            getLogger().lifecycle("nothing to judge: no test was recorded");
            return;
        }
        if (!action.equals("learn") && !gate.isFile()) {
            throw new GradleException("no gate yet: build three times with -Pinstrument.gateAction=learn -Pinstrument.keep, and keep " + gate
                + " beside the sources");
        }
        if (files.isEmpty()) {
            throw new GradleException("there are no profiles in " + profiles.getFiles() + "; `instrument { applyTo test }` records those of tests");
        }
        // Each profile is a run to a gate: what grew in one of several would not have grown in all.
        if (files.size() > 1 && action.equals("check")) {
            throw new GradleException(files.size() + " profiles are in " + profiles.getFiles() + ", and a gate judges one JVM of one build: leave "
                + "maxParallelForks and forkEvery as they are, give each task an InstrumentGate of its own, and check without -Pinstrument.keep");
        }
        List<String> arguments = new ArrayList<>(Arrays.asList("gate", action));
        if (action.equals("learn")) {
            arguments.add("-o");
        }
        arguments.add(gate.getPath());
        arguments.addAll(files);
        Command.judge(getExecutable().getSingleFile(), arguments, getTemporaryDir(), getLogger(), action.equals("check"), "");
    }
}
