package io.github.instrument.gradle;

import java.io.File;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.gradle.api.Plugin;
import org.gradle.api.Project;
import org.gradle.api.file.FileCollection;
import org.gradle.api.plugins.JavaPlugin;
import org.gradle.api.tasks.SourceSet;
import org.gradle.api.tasks.SourceSetContainer;

/**
 * {@code io.github.instrument}: the extension {@code instrument}, tasks that judge and report on what was recorded, and, where there
 * is Java, {@value #CLASSES} and {@value #RUNTIME}. It knows nothing that the binary knows.
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
            SourceSet main = sets(project).getByName(SourceSet.MAIN_SOURCE_SET_NAME);
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
            task.setProfiles(recorded(project));
            task.setGroup("verification");
        });
        project.getTasks().withType(InstrumentGolden.class, task -> {
            task.setExecutable(extension.natives().executable());
            task.setGroup("verification");
        });
        project.getTasks().withType(InstrumentReport.class, task -> {
            task.setExecutable(extension.natives().executable());
            task.setGroup("verification");
        });
        project.getPlugins().withType(JavaPlugin.class,
            plugin -> project.getTasks().withType(InstrumentGolden.class, task -> task.dependsOn(JavaPlugin.CLASSES_TASK_NAME)));
        project.getTasks().create("instrumentGate", InstrumentGate.class).setDescription("Checks what was recorded against the gate");
        project.getTasks().create("instrumentGolden", InstrumentGolden.class).setDescription("Checks the snapshots of bytecode");
        report(project, "instrumentReport", "report", () -> Collections.singleton(project), "Reports on what was recorded");
        report(project, "instrumentAggregate", "aggregate", project::getAllprojects, "Reports on what was recorded in this project and those below");
    }

    private static void report(Project project, String name, String folder, Supplier<Collection<Project>> of, String what) {
        project.getTasks().create(name, InstrumentReport.class, task -> {
            task.setDescription(what);
            task.setProfiles(files(project, of, InstrumentPlugin::recorded));
            task.setClasses(files(project, of, InstrumentPlugin::classes));
            task.setInto(new File(buildFolder(project), "instrument-reports/" + folder));
        });
    }

    /** Files of several projects, asked for when all of them are configured. */
    private static FileCollection files(Project project, Supplier<Collection<Project>> of, Function<Project, FileCollection> part) {
        Callable<List<FileCollection>> files = () -> of.get().stream().map(part).collect(Collectors.toList());
        return project.files(files);
    }

    /** Folders of profiles; with them come the tasks that are recorded. */
    private static FileCollection recorded(Project project) {
        Callable<List<FileCollection>> files = () -> {
            InstrumentExtension extension = project.getExtensions().findByType(InstrumentExtension.class);
            return extension == null ? Collections.emptyList() : extension.recorded();
        };
        return project.files(files);
    }

    /** What the main source set is compiled to. */
    private static FileCollection classes(Project project) {
        Callable<List<FileCollection>> files = () -> {
            boolean isJava = project.getPlugins().hasPlugin(JavaPlugin.class);
            return isJava ? Collections.singletonList(sets(project).getByName(SourceSet.MAIN_SOURCE_SET_NAME).getOutput()) : Collections.emptyList();
        };
        return project.files(files);
    }

    /** An extension since Gradle 5, a convention before. */
    private static SourceSetContainer sets(Project project) {
        return (SourceSetContainer) project.property("sourceSets");
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
