package io.github.instrument.maven;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** Checks the profiles of the module's tests against a gate; the build fails if something grew. */
@Mojo(name = "gate", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class GateMojo extends Goal {
    /** The gate. */
    @Parameter(property = "instrument.gate", defaultValue = "${project.basedir}/${project.artifactId}.gate")
    private File gate;

    /** check, learn or bless. */
    @Parameter(property = "instrument.gateAction", defaultValue = "check")
    private String action;

    /** Whether the build was told to run no tests. */
    private boolean skipsTests() {
        for (String name : new String[] {"skipTests", "maven.test.skip"}) {
            String value = session.getUserProperties().getProperty(name, project.getProperties().getProperty(name));
            if (value != null && !value.equals("false")) {
                return true;
            }
        }
        return false;
    }

    @Override
    void run() throws MojoExecutionException, MojoFailureException {
        List<String> profiles = profiles();
        if (profiles.isEmpty() && (!gate.isFile() || skipsTests())) {
            getLog().info("nothing to judge: no test was recorded");
            return;
        }
        if (!action.equals("learn") && !gate.isFile()) {
            throw new MojoExecutionException("no gate yet: build three times with -Dinstrument.gateAction=learn -Dinstrument.keep, and keep "
                + gate + " beside the sources");
        }
        if (profiles.isEmpty()) {
            throw new MojoExecutionException("there are no profiles in " + directory + "; prepare-agent records those of tests");
        }
        // Each profile is a run to a gate: what grew in one of several would not have grown in all.
        if (profiles.size() > 1 && (action.equals("check") || !new File(directory, "kept").isFile())) {
            throw new MojoExecutionException(profiles.size() + " profiles are in " + directory + ", and a gate judges one JVM of one build: run the tests "
                + "in one (forkCount 1, reuseForks true), give those of Failsafe an instrument.directory of their own, and check without -Dinstrument.keep");
        }
        List<String> arguments = new ArrayList<>();
        arguments.add("gate");
        arguments.add(action);
        if (action.equals("learn")) {
            arguments.add("-o");
        }
        arguments.add(gate.getPath());
        arguments.addAll(profiles);
        arguments.addAll(options);
        judge(arguments, action.equals("check"), "");
    }
}
