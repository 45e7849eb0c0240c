package io.github.instrument.gradle;

import org.gradle.api.DefaultTask;
import org.gradle.api.file.FileCollection;
import org.gradle.api.tasks.InputFiles;
import org.gradle.api.tasks.PathSensitive;
import org.gradle.api.tasks.PathSensitivity;

/** What all tasks that judge or report have in common: the binary, and words that project properties set. */
public abstract class BinaryTask extends DefaultTask {
    private FileCollection executable;

    /** The binary. */
    @InputFiles
    @PathSensitive(PathSensitivity.NONE)
    public FileCollection getExecutable() {
        return executable;
    }

    public void setExecutable(FileCollection executable) {
        this.executable = executable;
    }

    /** A project property, such as {@code -Pinstrument.gateAction=learn}; without it, {@code usual}. */
    final String property(String name, String usual) {
        return getProject().hasProperty(name) ? String.valueOf(getProject().property(name)) : usual;
    }
}
