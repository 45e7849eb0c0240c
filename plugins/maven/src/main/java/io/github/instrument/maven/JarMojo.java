package io.github.instrument.maven;

import java.io.File;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.Component;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProjectHelper;

/** Rewrites the module's jar (or war, or repackaged Spring Boot jar), and attaches the result with the classifier {@code instrumented}. */
@Mojo(name = "jar", defaultPhase = LifecyclePhase.PACKAGE, threadSafe = true)
public final class JarMojo extends Rewriting {
    /** The classifier of what is attached. */
    @Parameter(property = "instrument.classifier", defaultValue = "instrumented")
    private String classifier;

    /** Whether it is attached, and so installed and deployed beside the artifact of the module. */
    @Parameter(property = "instrument.attach", defaultValue = "true")
    private boolean attach;

    @Parameter(defaultValue = "${project.build.directory}/${project.build.finalName}", readonly = true)
    private File base;

    @Component
    private MavenProjectHelper helper;

    @Override
    void run() throws MojoExecutionException {
        File jar = project.getArtifact().getFile();
        if (jar == null || !jar.isFile()) {
            throw new MojoExecutionException("this module has no artifact yet; bind the goal `jar` to the phase package, behind the plugin that makes the jar");
        }
        String name = jar.getName();
        String extension = name.substring(name.lastIndexOf('.'));
        File output = new File(base.getPath() + "-" + classifier + extension);
        rewrite(jar, output);
        if (attach) {
            helper.attachArtifact(project, extension.substring(1), classifier, output);
        }
    }
}
