package io.github.instrument.maven;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** Checks snapshots of bytecode; the build fails if a class is not as blessed. */
@Mojo(name = "golden", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class GoldenMojo extends Goal {
    /** The folder of the cases. */
    @Parameter(property = "instrument.golden", defaultValue = "${project.basedir}/src/test/golden")
    private File cases;

    /** check, bless, accept or reject. */
    @Parameter(property = "instrument.goldenAction", defaultValue = "check")
    private String action;

    @Override
    void run() throws MojoExecutionException, MojoFailureException {
        if (!cases.isDirectory()) {
            getLog().info("nothing to check: there is no folder " + cases);
            return;
        }
        List<String> arguments = new ArrayList<>(Arrays.asList("golden", action, cases.getPath()));
        if (action.equals("check")) {
            arguments.addAll(Arrays.asList("--junit", new File(made(directory), "golden.xml").getPath()));
        }
        arguments.addAll(options);
        judge(arguments, action.equals("check"), "FAIL ");
    }
}
