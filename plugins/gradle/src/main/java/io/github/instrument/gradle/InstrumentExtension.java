package io.github.instrument.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.gradle.api.GradleException;
import org.gradle.api.Project;
import org.gradle.api.Task;
import org.gradle.api.file.FileCollection;
import org.gradle.api.tasks.JavaExec;
import org.gradle.api.tasks.PathSensitivity;
import org.gradle.process.JavaForkOptions;
import org.gradle.util.GradleVersion;

/** {@code instrument { .. }}: the keys of {@code instrument.toml}, and where the binary is. */
public class InstrumentExtension {
    /** What runs tests: a gate is not to judge it, and a report not to begin with it. */
    private static final String HARNESS = "exclude=org.junit.**:junit.**:org.opentest4j.**:org.hamcrest.**:org.testng.**:org.gradle.**:worker.org.gradle.**"
        + ":io.github.instrument.junit.**:instrument.api.**";

    private final Project project;
    private final NativeFiles natives;

    /** Only classes and methods that match. */
    private List<String> include = new ArrayList<>();
    /** Not those that match. */
    private List<String> exclude = new ArrayList<>();
    private List<String> subclassesOf = new ArrayList<>();
    private List<String> transform = new ArrayList<>();
    private List<String> values = new ArrayList<>();
    private List<String> root = new ArrayList<>();
    private List<String> latency = new ArrayList<>();
    private List<String> remote = new ArrayList<>();
    private boolean propagate;
    private List<String> region = new ArrayList<>();
    private String libraryCalls;
    private boolean nativeMethods;
    private String largeMethods;
    private String runtime;
    private String record;
    private String timing;
    private boolean strict;
    private boolean stripSignatures;
    /** How hard jars are compressed, 1 to 12; null: as the binary does by itself. */
    private Integer level;
    /** Further arguments of {@code instrument rewrite}. */
    private List<String> options = new ArrayList<>();
    /** Further options of the agent, KEY=VALUE each. */
    private List<String> agentOptions = new ArrayList<>();
    private Object executable;
    private Object agent;
    /** Profiles of tasks that are recorded. */
    private final List<FileCollection> recorded = new ArrayList<>();

    public InstrumentExtension(Project project) {
        this.project = project;
        natives = new NativeFiles(project, this);
    }

    /** The arguments that these settings are. */
    List<String> arguments() {
        List<String> arguments = new ArrayList<>();
        add(arguments, "--include", include);
        add(arguments, "--exclude", exclude);
        add(arguments, "--subclasses-of", subclassesOf);
        add(arguments, "--root", root);
        add(arguments, "--latency", latency);
        add(arguments, "--region", region);
        if (!transform.isEmpty()) {
            add(arguments, "--transform", String.join(",", transform));
        }
        if (!values.isEmpty()) {
            add(arguments, "--values", String.join(",", values));
        }
        if (!remote.isEmpty()) {
            add(arguments, "--remote", String.join(",", remote));
        }
        if (propagate) {
            arguments.add("--propagate");
        }
        add(arguments, "--library-calls", libraryCalls);
        if (nativeMethods) {
            arguments.add("--native");
        }
        add(arguments, "--large-methods", largeMethods);
        add(arguments, "--runtime", runtime);
        add(arguments, "--record", record);
        add(arguments, "--timing", timing);
        if (strict) {
            arguments.add("--strict");
        }
        if (stripSignatures) {
            arguments.add("--strip-signatures");
        }
        add(arguments, "--level", level == null ? null : level.toString());
        arguments.addAll(options);
        return arguments;
    }

    /** The same as options of the agent; what has no meaning there is left out. */
    List<String> agentArguments() {
        List<String> arguments = new ArrayList<>();
        include.forEach(pattern -> arguments.add("include=" + pattern));
        exclude.forEach(pattern -> arguments.add("exclude=" + pattern));
        if (include.isEmpty() && exclude.isEmpty() && agentOptions.stream().noneMatch(option -> option.startsWith("include=") || option.startsWith("exclude="))) {
            arguments.add(HARNESS);
        }
        root.forEach(pattern -> arguments.add("root=" + pattern));
        latency.forEach(pattern -> arguments.add("latency=" + pattern));
        region.forEach(one -> arguments.add("region=" + one));
        List<String> inserted = new ArrayList<>(transform);
        if (inserted.isEmpty() && !(values.isEmpty() && remote.isEmpty()) && region.isEmpty()) {
            // What the agent inserts if nobody says.
            inserted.add("method-events");
            inserted.add("thread-links");
            if (!"counts".equals(record)) {
                inserted.add("waits");
            }
        }
        // To the agent they are transforms.
        inserted.addAll(values);
        remote.forEach(kind -> inserted.add("rmi".equals(kind) ? kind : "remote-" + kind));
        if (!inserted.isEmpty()) {
            arguments.add("transform=" + String.join(":", inserted));
        }
        if (propagate) {
            arguments.add("propagate=on");
        }
        if (libraryCalls != null) {
            arguments.add("library-calls=" + libraryCalls);
        }
        if (nativeMethods) {
            arguments.add("native=on");
        }
        if (record != null) {
            arguments.add("record=" + record);
        }
        if (timing != null) {
            arguments.add("timing=" + timing);
        }
        arguments.addAll(agentOptions);
        return arguments;
    }

    private static void add(List<String> arguments, String option, List<String> values) {
        values.forEach(value -> add(arguments, option, value));
    }

    private static void add(List<String> arguments, String option, String value) {
        if (value != null) {
            arguments.add(option);
            arguments.add(value);
        }
    }

    /**
     * Records what a {@code Test} or {@code JavaExec} task does, with the agent: the profiles are in {@code build/instrument/TASK}, which is
     * an output of the task.
     */
    public void applyTo(Task task) {
        if (!(task instanceof JavaForkOptions)) {
            throw new GradleException("instrument.applyTo: " + task + " starts no JVM; it takes Test and JavaExec tasks");
        }
        File profiles = new File(InstrumentPlugin.buildFolder(project), "instrument/" + task.getName());
        FileCollection binary = natives.executable();
        FileCollection library = natives.agent();
        task.getInputs().files(binary).withPropertyName("instrument.executable").withPathSensitivity(PathSensitivity.NONE);
        task.getInputs().files(library).withPropertyName("instrument.agent").withPathSensitivity(PathSensitivity.NONE);
        task.getInputs().property("instrument.options", project.provider(this::agentArguments));
        task.getOutputs().dir(profiles).withPropertyName("instrument.profiles");
        boolean keep = project.hasProperty("instrument.keep") && !"false".equals(String.valueOf(project.property("instrument.keep")));
        if (keep) {
            task.getOutputs().upToDateWhen(one -> false);
            task.getOutputs().doNotCacheIf("profiles of several builds are kept", one -> true);
        }
        recorded.add(project.files(profiles).builtBy(task));
        AgentArguments arguments = new AgentArguments(profiles, binary, library, project.provider(this::agentArguments));
        if (GradleVersion.current().compareTo(GradleVersion.version("4.6")) >= 0) {
            ((JavaForkOptions) task).getJvmArgumentProviders().add(new RecordArguments(arguments));
            arguments = null;
        }
        task.doFirst(new RecordAction(profiles, keep, arguments));
    }

    /** Lets a {@code JavaExec} task run the instrumented class path of the main source set; profiles are in its working directory. */
    public void useInstrumented(JavaExec task) {
        Instrument runtime = (Instrument) project.getTasks().getByName(InstrumentPlugin.RUNTIME);
        task.setClasspath(runtime.getInstrumented());
    }

    /** Profiles of the tasks that are recorded. */
    List<FileCollection> recorded() {
        return recorded;
    }

    NativeFiles natives() {
        return natives;
    }

    File file(Object given) {
        return given == null ? null : project.file(given);
    }

    public List<String> getInclude() {
        return include;
    }

    public void setInclude(List<String> include) {
        this.include = include;
    }

    public List<String> getExclude() {
        return exclude;
    }

    public void setExclude(List<String> exclude) {
        this.exclude = exclude;
    }

    public List<String> getSubclassesOf() {
        return subclassesOf;
    }

    public void setSubclassesOf(List<String> subclassesOf) {
        this.subclassesOf = subclassesOf;
    }

    public List<String> getTransform() {
        return transform;
    }

    public void setTransform(List<String> transform) {
        this.transform = transform;
    }

    public List<String> getValues() {
        return values;
    }

    public void setValues(List<String> values) {
        this.values = values;
    }

    public List<String> getRoot() {
        return root;
    }

    public void setRoot(List<String> root) {
        this.root = root;
    }

    public List<String> getLatency() {
        return latency;
    }

    public void setLatency(List<String> latency) {
        this.latency = latency;
    }

    public List<String> getRemote() {
        return remote;
    }

    public void setRemote(List<String> remote) {
        this.remote = remote;
    }

    public boolean isPropagate() {
        return propagate;
    }

    public void setPropagate(boolean propagate) {
        this.propagate = propagate;
    }

    public List<String> getRegion() {
        return region;
    }

    public void setRegion(List<String> region) {
        this.region = region;
    }

    public String getLibraryCalls() {
        return libraryCalls;
    }

    public void setLibraryCalls(String libraryCalls) {
        this.libraryCalls = libraryCalls;
    }

    /** Calls of native methods are recorded; {@code native} is a word of Java. */
    public boolean isNativeMethods() {
        return nativeMethods;
    }

    public void setNativeMethods(boolean nativeMethods) {
        this.nativeMethods = nativeMethods;
    }

    public String getLargeMethods() {
        return largeMethods;
    }

    public void setLargeMethods(String largeMethods) {
        this.largeMethods = largeMethods;
    }

    public String getRuntime() {
        return runtime;
    }

    public void setRuntime(String runtime) {
        this.runtime = runtime;
    }

    public String getRecord() {
        return record;
    }

    public void setRecord(String record) {
        this.record = record;
    }

    public String getTiming() {
        return timing;
    }

    public void setTiming(String timing) {
        this.timing = timing;
    }

    public boolean isStrict() {
        return strict;
    }

    public void setStrict(boolean strict) {
        this.strict = strict;
    }

    public boolean isStripSignatures() {
        return stripSignatures;
    }

    public void setStripSignatures(boolean stripSignatures) {
        this.stripSignatures = stripSignatures;
    }

    public Integer getLevel() {
        return level;
    }

    public void setLevel(Integer level) {
        this.level = level;
    }

    public List<String> getOptions() {
        return options;
    }

    public void setOptions(List<String> options) {
        this.options = options;
    }

    public List<String> getAgentOptions() {
        return agentOptions;
    }

    public void setAgentOptions(List<String> agentOptions) {
        this.agentOptions = agentOptions;
    }

    /** The binary: it wins over everything else. The project property {@code instrument.executable} is the same. */
    public Object getExecutable() {
        return executable != null ? executable : project.findProperty("instrument.executable");
    }

    public void setExecutable(Object executable) {
        this.executable = executable;
    }

    /** The agent; by default the one that belongs to the binary. The project property {@code instrument.agent} is the same. */
    public Object getAgent() {
        return agent != null ? agent : project.findProperty("instrument.agent");
    }

    public void setAgent(Object agent) {
        this.agent = agent;
    }
}
