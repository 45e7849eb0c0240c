package io.github.instrument.gradle;

import java.io.File;
import org.gradle.api.Action;
import org.gradle.api.GradleException;
import org.gradle.api.Task;
import org.gradle.process.JavaForkOptions;

/** Runs before a task that is recorded: the profiles of earlier builds go. */
final class RecordAction implements Action<Task> {
    private final File profiles;
    /** Null: a {@link RecordArguments} gives the arguments. */
    private final AgentArguments arguments;

    RecordAction(File profiles, AgentArguments arguments) {
        this.profiles = profiles;
        this.arguments = arguments;
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
        if (arguments != null) {
            ((JavaForkOptions) task).jvmArgs(arguments.list());
        }
    }
}
