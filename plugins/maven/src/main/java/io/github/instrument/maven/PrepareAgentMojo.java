package io.github.instrument.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** Lets Surefire and Failsafe record what tests do: puts the agent into the property {@code argLine}, in front of what is there. */
@Mojo(name = "prepare-agent", defaultPhase = LifecyclePhase.INITIALIZE, threadSafe = true)
public final class PrepareAgentMojo extends Goal {
    /** The agent; by default the one that belongs to the binary. */
    @Parameter(property = "instrument.agent")
    private File agent;

    /** What runs tests: a gate is not to judge it, and a report not to begin with it. */
    private static final String HARNESS = "exclude=org.junit.**:junit.**:org.opentest4j.**:org.hamcrest.**:org.testng.**:org.apache.maven.surefire.**"
        + ":io.github.instrument.junit.**:instrument.api.**";

    /** Options of the agent, KEY=VALUE each, such as {@code include=com.acme.**}; without an include or exclude, all but what runs the tests. */
    @Parameter(property = "instrument.agentOptions")
    private List<String> agentOptions = new ArrayList<>();

    /** Keep the profiles of earlier builds that kept theirs, as for {@code gate learn} after several. */
    @Parameter(property = "instrument.keep", defaultValue = "false")
    private boolean keep;

    /** The property that is set. */
    @Parameter(property = "instrument.propertyName", defaultValue = "argLine")
    private String propertyName;

    @Override
    void run() throws MojoExecutionException {
        File file = agent != null ? agent : agentLibrary();
        if (!file.isFile()) {
            throw new MojoExecutionException("the agent is not at " + file + "; name it with -Dinstrument.agent=FILE or <agent>");
        }
        if (file.getAbsolutePath().contains("=")) {
            throw new MojoExecutionException(file + ": java cannot load a library whose path holds `=`; -Dinstrument.nativeDirectory=FOLDER puts the released one "
                + "into another folder, and -Dinstrument.agent=FILE names another one");
        }
        StringBuilder text = new StringBuilder("-agentpath:").append(file.getAbsolutePath());
        String out = new File(made(directory), "%p.iprof").getAbsolutePath();
        // What was recorded before the first build that keeps is of another one: it may be of other sources.
        File keeps = new File(directory, "kept");
        if (!keep || !keeps.isFile()) {
            for (String old : profiles()) {
                new File(old).delete();
            }
        }
        mark(keeps);
        text.append("=out=").append(out.replace("\\", "\\\\").replace(",", "\\,"));
        if (agentOptions.stream().noneMatch(option -> option.trim().startsWith("include=") || option.trim().startsWith("exclude="))) {
            text.append(',').append(HARNESS);
        }
        for (String option : agentOptions) {
            text.append(',').append(option.trim());
        }
        String argument = quoted(text.toString());
        if (knownBinary() != null && !session.getUserProperties().containsKey("instrument.executable")) {
            // For tests that check their budgets. Surefire hands over what is on the command line.
            argument += " " + quoted("-Dinstrument.executable=" + knownBinary().getAbsolutePath());
        }
        Properties properties = project.getProperties();
        String before = properties.getProperty(propertyName);
        if (before != null && before.contains(argument)) {
            // Two phases of one build.
            return;
        }
        String now = before == null || before.trim().isEmpty() ? argument : argument + " " + before;
        properties.setProperty(propertyName, now);
        getLog().info(propertyName + " set to " + now);
    }

    /** Makes an empty file if this build keeps, and removes it if not. */
    private void mark(File keeps) throws MojoExecutionException {
        try {
            if (keep) {
                keeps.createNewFile();
            } else {
                Files.deleteIfExists(keeps.toPath());
            }
        } catch (IOException e) {
            throw new MojoExecutionException(keeps + ": " + e.getMessage(), e);
        }
    }

    /** As Surefire takes an argument for one: it knows both quotation marks, and no way to have one within itself. */
    static String quoted(String argument) throws MojoExecutionException {
        if (argument.indexOf('"') < 0) {
            return argument.matches(".*[\\s'].*") ? '"' + argument + '"' : argument;
        }
        if (argument.indexOf('\'') < 0) {
            return "'" + argument + "'";
        }
        throw new MojoExecutionException(argument + ": an argument with both kinds of quotation marks cannot be passed on; choose another "
            + "instrument.directory");
    }
}
