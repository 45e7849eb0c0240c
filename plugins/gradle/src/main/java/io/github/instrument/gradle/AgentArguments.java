package io.github.instrument.gradle;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.gradle.api.GradleException;
import org.gradle.api.file.FileCollection;
import org.gradle.api.logging.Logging;
import org.gradle.api.provider.Provider;

/** What a JVM that is recorded is started with. It holds no project, so that the configuration cache can keep it. */
final class AgentArguments {
    private final File profiles;
    private final FileCollection binary;
    private final FileCollection library;
    private final Provider<List<String>> options;

    AgentArguments(File profiles, FileCollection binary, FileCollection library, Provider<List<String>> options) {
        this.profiles = profiles;
        this.binary = binary;
        this.library = library;
        this.options = options;
    }

    List<String> list() {
        String executable = binary.getSingleFile().getAbsolutePath();
        StringBuilder text = new StringBuilder("-agentpath:").append(agent());
        text.append("=out=").append(new File(profiles, "%p.iprof").getAbsolutePath().replace("\\", "\\\\").replace(",", "\\,"));
        for (String option : options.get()) {
            text.append(',').append(option);
        }
        // The second for tests that check their budgets.
        return Arrays.asList(text.toString(), "-Dinstrument.executable=" + executable);
    }

    private String agent() {
        if (!library.isEmpty()) {
            String path = library.getSingleFile().getAbsolutePath();
            if (path.contains("=")) {
                throw new GradleException(path + ": java cannot load a library whose path holds `=`; name another one with -Pinstrument.agent=FILE");
            }
            return path;
        }
        try {
            Path answer = Files.createTempFile("agent", ".path");
            try {
                int code = Command.start(binary.getSingleFile(), Collections.singletonList("agent"), null, answer.toFile(), Logging.getLogger(AgentArguments.class));
                if (code != 0) {
                    throw new GradleException("`instrument agent` failed with exit code " + code + "; name the agent with -Pinstrument.agent=FILE");
                }
                return new String(Files.readAllBytes(answer), StandardCharsets.UTF_8).trim();
            } finally {
                Files.delete(answer);
            }
        } catch (IOException e) {
            throw new GradleException("cannot read what `instrument agent` says: " + e, e);
        }
    }
}
