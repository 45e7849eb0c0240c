package io.github.instrument.maven;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;

/** One tree over the module's processes that called each other: {@code target/instrument/merged.txt}. */
@Mojo(name = "merge", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class MergeMojo extends Goal {
    @Override
    void run() throws MojoExecutionException {
        List<String> profiles = profiles();
        if (profiles.isEmpty()) {
            getLog().info("nothing to merge: there are no profiles in " + directory);
            return;
        }
        List<String> arguments = new ArrayList<>();
        arguments.add("merge");
        arguments.addAll(options);
        arguments.addAll(profiles);
        File merged = new File(directory, "merged.txt");
        succeed(arguments, merged);
        getLog().info("merged: " + merged);
    }
}
