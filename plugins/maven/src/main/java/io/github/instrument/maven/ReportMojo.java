package io.github.instrument.maven;

import java.util.Collections;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;

/** Reports on the profiles of the module's tests: {@code target/instrument/report.txt} and {@code report.html}. */
@Mojo(name = "report", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class ReportMojo extends Reporting {
    @Override
    void run() throws MojoExecutionException {
        List<String> profiles = profiles();
        if (profiles.isEmpty()) {
            getLog().info("nothing to report: there are no profiles in " + directory);
            return;
        }
        report(profiles, Collections.singletonList(classes), directory, "report");
    }
}
