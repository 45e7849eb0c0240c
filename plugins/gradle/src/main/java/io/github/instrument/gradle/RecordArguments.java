package io.github.instrument.gradle;

import org.gradle.process.CommandLineArgumentProvider;

/** {@link AgentArguments} for Gradle 4.6 and later: what the JVM is started with is asked for when the task runs. */
final class RecordArguments implements CommandLineArgumentProvider {
    private final AgentArguments arguments;

    RecordArguments(AgentArguments arguments) {
        this.arguments = arguments;
    }

    @Override
    public Iterable<String> asArguments() {
        return arguments.list();
    }
}
