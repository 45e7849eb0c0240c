package io.github.instrument.gradle;

import java.io.File;
import java.util.List;
import org.gradle.api.Action;
import org.gradle.api.GradleException;
import org.gradle.api.Task;
import org.gradle.api.file.FileCollection;
import org.gradle.api.provider.Provider;
import org.gradle.process.JavaForkOptions;

/** Starts the JVM of a task with the agent. It holds no project, so that the configuration cache can keep it. */
final class RecordAction implements Action<Task> {
    private final File profiles;
    private final FileCollection binary;
    private final FileCollection library;
    private final Provider<List<String>> options;

    RecordAction(File profiles, FileCollection binary, FileCollection library, Provider<List<String>> options) {
        this.profiles = profiles;
        this.binary = binary;
        this.library = library;
        this.options = options;
    }

    @Override
    public void execute(Task task) {
        File[] old = profiles.listFiles((folder, name) -> name.endsWith(".iprof"));
        for (File profile : old == null ? new File[0] : old) {
            if (!profile.delete()) {
                throw new GradleException("cannot delete the profile of an earlier build, " + profile);
            }
        }
        if (!profiles.isDirectory() && !profiles.mkdirs()) {
            throw new GradleException("cannot make the folder " + profiles);
        }
        StringBuilder text = new StringBuilder("-agentpath:").append(library.getSingleFile().getAbsolutePath());
        text.append("=out=").append(new File(profiles, "%p.iprof").getAbsolutePath().replace("\\", "\\\\").replace(",", "\\,"));
        for (String option : options.get()) {
            text.append(',').append(option);
        }
        JavaForkOptions jvm = (JavaForkOptions) task;
        jvm.jvmArgs(text.toString());
        if (!binary.isEmpty()) {
            // For tests that check their budgets.
            jvm.systemProperty("instrument.executable", binary.getSingleFile().getAbsolutePath());
        }
    }
}
