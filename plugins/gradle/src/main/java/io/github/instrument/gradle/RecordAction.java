package io.github.instrument.gradle;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import org.gradle.api.Action;
import org.gradle.api.GradleException;
import org.gradle.api.Task;
import org.gradle.process.JavaForkOptions;

/** Runs before a task that is recorded: the profiles of earlier builds go. */
final class RecordAction implements Action<Task> {
    private final File profiles;
    /** Profiles of earlier builds that kept theirs stay. */
    private final boolean keep;
    /** Null: a {@link RecordArguments} gives the arguments. */
    private final AgentArguments arguments;

    RecordAction(File profiles, boolean keep, AgentArguments arguments) {
        this.profiles = profiles;
        this.keep = keep;
        this.arguments = arguments;
    }

    @Override
    public void execute(Task task) {
        // What was recorded before the first build that keeps is of another one: it may be of other sources.
        File keeps = new File(profiles, "kept");
        File[] old = profiles.listFiles((folder, name) -> name.endsWith(".iprof"));
        for (File profile : old == null || keep && keeps.isFile() ? new File[0] : old) {
            if (!profile.delete()) {
                throw new GradleException("cannot delete the profile of an earlier build, " + profile);
            }
        }
        if (!profiles.isDirectory() && !profiles.mkdirs()) {
            throw new GradleException("cannot make the folder " + profiles);
        }
        try {
            if (keep) {
                keeps.createNewFile();
            } else {
                Files.deleteIfExists(keeps.toPath());
            }
        } catch (IOException e) {
            throw new GradleException(keeps + ": " + e.getMessage(), e);
        }
        if (arguments != null) {
            ((JavaForkOptions) task).jvmArgs(arguments.list());
        }
    }
}
