package io.github.instrument.maven;

import java.io.File;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** Rewrites the classes of the module into a folder of their own. The classes that are released stay as they are. */
@Mojo(name = "instrument", defaultPhase = LifecyclePhase.PROCESS_CLASSES, threadSafe = true)
public final class InstrumentMojo extends Rewriting {
    /** The classes of the module. */
    @Parameter(property = "instrument.classes", defaultValue = "${project.build.outputDirectory}")
    private File classes;

    /** Where the rewritten ones go. */
    @Parameter(property = "instrument.output", defaultValue = "${project.build.directory}/instrumented-classes")
    private File output;

    @Override
    void run() throws MojoExecutionException {
        if (!classes.isDirectory()) {
            getLog().info("nothing to do: there are no classes in " + classes);
            return;
        }
        rewrite(classes, output);
    }
}
