package io.github.instrument.gradle;

import java.io.File;
import org.gradle.api.Plugin;
import org.gradle.api.Project;
import org.gradle.api.file.FileCollection;
import org.gradle.api.plugins.JavaPlugin;
import org.gradle.api.tasks.SourceSet;
import org.gradle.api.tasks.SourceSetContainer;

/**
 * {@code io.github.instrument}: the extension {@code instrument}, and, where there is Java, the tasks {@value #CLASSES} and
 * {@value #RUNTIME}. It knows nothing that the binary knows.
 */
public class InstrumentPlugin implements Plugin<Project> {
    /** Rewrites what the main source set is compiled to. */
    static final String CLASSES = "instrumentClasses";
    /** Rewrites all that the main source set needs to run. */
    static final String RUNTIME = "instrumentRuntimeClasspath";

    @Override
    public void apply(Project project) {
        InstrumentExtension extension = project.getExtensions().create("instrument", InstrumentExtension.class, project);
        project.getPlugins().withType(JavaPlugin.class, plugin -> {
            // An extension since Gradle 5, a convention before.
            SourceSetContainer sets = (SourceSetContainer) project.property("sourceSets");
            SourceSet main = sets.getByName(SourceSet.MAIN_SOURCE_SET_NAME);
            task(project, extension, CLASSES, "Instruments the classes of the main source set", main.getOutput(), "main");
            task(project, extension, RUNTIME, "Instruments the class path that the main source set runs on", main.getRuntimeClasspath(), "runtime");
        });
        project.getTasks().withType(Instrument.class, task -> {
            // Also of tasks that a build makes for itself.
            task.arguments(project.provider(extension::arguments));
            task.setExecutable(extension.natives().executable());
            task.configuration(project.file("instrument.toml"));
        });
        project.getTasks().withType(InstrumentGate.class, task -> {
            task.setExecutable(extension.natives().executable());
            task.setGroup("verification");
        });
    }

    private static void task(Project project, InstrumentExtension extension, String name, String what, FileCollection from, String folder) {
        project.getTasks().create(name, Instrument.class, task -> {
            task.setGroup("build");
            task.setDescription(what);
            task.setFrom(from);
            task.setInto(new File(buildFolder(project), "instrumented/" + folder));
        });
    }

    static File buildFolder(Project project) {
        return project.getLayout().getBuildDirectory().get().getAsFile();
    }
}
