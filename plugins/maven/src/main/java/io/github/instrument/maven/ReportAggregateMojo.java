package io.github.instrument.maven;

import java.io.File;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.maven.execution.MavenExecutionRequest;
import org.apache.maven.model.Plugin;
import org.apache.maven.model.PluginExecution;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;

/**
 * One report on the tests of all modules of a build: {@code target/instrument/aggregate.txt} and {@code aggregate.html} in the folder from
 * which it was started. It is written when the last of the modules that have this goal is done, so it needs no module of its own.
 */
@Mojo(name = "report-aggregate", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class ReportAggregateMojo extends Reporting {
    /** What was recorded in each build so far. */
    private static final Map<MavenExecutionRequest, Gathered> BUILDS = Collections.synchronizedMap(new WeakHashMap<>());

    /** Where the report goes. */
    @Parameter(property = "instrument.aggregateDirectory", defaultValue = "${session.executionRootDirectory}/target/instrument")
    private File aggregateDirectory;

    @Parameter(defaultValue = "${mojoExecution}", readonly = true, required = true)
    private MojoExecution execution;

    /** Modules that are done. */
    private static final class Gathered {
        final Set<MavenProject> done = new HashSet<>();
        final List<String> profiles = new ArrayList<>();
        final List<File> classes = new ArrayList<>();
    }

    @Override
    boolean isForParents() {
        return true;
    }

    @Override
    void skipped() throws MojoExecutionException {
        add(Collections.emptyList());
    }

    @Override
    void run() throws MojoExecutionException {
        add(profiles());
    }

    private void add(List<String> profiles) throws MojoExecutionException {
        // Modules that are built at the same time have sessions of their own, which share the request.
        Gathered all = BUILDS.computeIfAbsent(session.getRequest(), request -> new Gathered());
        synchronized (all) {
            if (!all.done.add(project)) {
                return;
            }
            if (all.done.size() == 1) {
                // If a module fails there is no report of this build, and none of an earlier one.
                remove(aggregateDirectory, "aggregate");
            }
            all.profiles.addAll(profiles);
            // Those of a module without tests are own code as well.
            all.classes.add(classes);
            if (!all.done.containsAll(expected())) {
                return;
            }
            if (all.profiles.isEmpty()) {
                getLog().info("nothing to report: no module has profiles");
                return;
            }
            report(all.profiles, all.classes, aggregateDirectory, "aggregate");
        }
    }

    /** The modules of this build that have this goal; all of them if it was named on the command line. */
    private Set<MavenProject> expected() {
        Set<MavenProject> expected = new HashSet<>();
        for (MavenProject module : session.getProjects()) {
            if (execution.getSource() == MojoExecution.Source.CLI || hasGoal(module)) {
                expected.add(module);
            }
        }
        return expected;
    }

    private boolean hasGoal(MavenProject module) {
        Plugin plugin = module.getPlugin(execution.getPlugin().getKey());
        if (plugin == null) {
            return false;
        }
        for (PluginExecution one : plugin.getExecutions()) {
            if (one.getGoals().contains(execution.getGoal()) && !"none".equals(one.getPhase())) {
                return true;
            }
        }
        return false;
    }
}
