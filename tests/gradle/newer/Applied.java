import io.github.instrument.gradle.Instrument;
import io.github.instrument.gradle.InstrumentExtension;
import java.io.File;
import java.util.Arrays;
import org.gradle.api.Project;
import org.gradle.testfixtures.ProjectBuilder;

/** Applies the plugin in the classes of a newer Gradle, of which there is no distribution here: Applied FOLDER BINARY AGENT CLASSES. */
public final class Applied {
    public static void main(String[] arguments) throws Exception {
        Project project = ProjectBuilder.builder().withProjectDir(new File(arguments[0])).build();
        project.getPluginManager().apply("java");
        project.getPluginManager().apply("io.github.instrument");
        InstrumentExtension extension = project.getExtensions().getByType(InstrumentExtension.class);
        extension.setExecutable(arguments[1]);
        extension.setAgent(arguments[2]);
        extension.setTransform(Arrays.asList("method-events"));
        extension.applyTo(project.getTasks().getByName("test"));
        Instrument task = (Instrument) project.getTasks().getByName("instrumentClasses");
        task.setFrom(project.files(arguments[3]));
        task.getInto().mkdirs();
        task.rewrite();
        System.out.println(project.getGradle().getGradleVersion() + " " + task.getArguments() + " " + task.getInstrumented().getFiles());
        // Gradle's threads would go on.
        System.exit(0);
    }
}
