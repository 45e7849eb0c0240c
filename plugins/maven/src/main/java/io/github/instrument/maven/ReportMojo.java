package io.github.instrument.maven;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;

/** Reports on the profiles of the module's tests: {@code target/instrument/report.txt}. */
@Mojo(name = "report", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class ReportMojo extends Goal {
    @Override
    void run() throws MojoExecutionException {
        List<String> profiles = profiles();
        if (profiles.isEmpty()) {
            getLog().info("nothing to report: there are no profiles in " + directory);
            return;
        }
        List<String> arguments = new ArrayList<>();
        arguments.add("report");
        arguments.addAll(options);
        arguments.addAll(profiles);
        File report = new File(directory, "report.txt");
        succeed(arguments, report);
        getLog().info("report: " + report);
    }
}
