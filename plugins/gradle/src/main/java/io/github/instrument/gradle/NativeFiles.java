package io.github.instrument.gradle;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.gradle.api.GradleException;
import org.gradle.api.Project;
import org.gradle.api.file.FileCollection;

/**
 * The binary and the agent, by the rules of the Maven plugin:
 *
 * <ol>
 * <li>the one that is named;
 * <li>the artifact {@code instrument-native} of the plugin's own version, from the project's repositories, compared with the SHA-256 that
 *     the plugin holds, and copied to where it may be executable;
 * <li>{@code instrument} on the PATH, with a warning if there should be an artifact.
 * </ol>
 *
 * Nothing is looked for before a task needs it.
 */
final class NativeFiles {
    private static final String DIGESTS = "/META-INF/instrument/native.properties";

    private final Project project;
    private final InstrumentExtension extension;
    private File binary;
    private boolean isReleased;

    NativeFiles(Project project, InstrumentExtension extension) {
        this.project = project;
        this.extension = extension;
    }

    /** The binary. */
    FileCollection executable() {
        return project.files((Callable<List<File>>) () -> Collections.singletonList(binary()));
    }

    /** The agent; nothing, if the binary has to say where the one is that belongs to it: no process may start while a build is configured. */
    FileCollection agent() {
        return project.files((Callable<List<File>>) this::library);
    }

    private synchronized File binary() throws IOException {
        File given = extension.file(extension.getExecutable());
        if (given != null) {
            if (!given.isFile()) {
                throw new GradleException("instrument.executable: " + given + " is no file");
            }
            if (!given.canExecute()) {
                throw new GradleException("instrument.executable: " + given + " is not executable; run: chmod +x " + given);
            }
            return given;
        }
        if (binary != null && binary.isFile()) {
            return binary;
        }
        TreeSet<String> platforms = digests().stringPropertyNames().stream().map(key -> key.substring(0, key.lastIndexOf('.')))
            .collect(Collectors.toCollection(TreeSet::new));
        String reason;
        if (platforms.contains(platform())) {
            File artifact = artifact("exe");
            if (artifact != null) {
                isReleased = true;
                return binary = placed(artifact, "exe", "instrument");
            }
            reason = "instrument-native of " + platform() + " is in no repository of " + project;
        } else if (platforms.isEmpty()) {
            reason = "this plugin was built without binaries";
        } else {
            reason = "there is no binary for " + platform() + ", only for " + String.join(", ", platforms);
        }
        binary = onPath();
        if (binary == null) {
            throw new GradleException(reason + "; and there is no `instrument` on the PATH. Build it from the sources with `cargo build --release`, "
                + "or install it, and name it with -Pinstrument.executable=FILE or instrument { executable = .. }");
        }
        if (!platforms.isEmpty()) {
            project.getLogger().warn(reason + "; using " + binary + " of the PATH instead");
        }
        return binary;
    }

    private synchronized List<File> library() throws IOException {
        File given = extension.file(extension.getAgent());
        if (given != null) {
            if (!given.isFile()) {
                throw new GradleException("instrument.agent: " + given + " is no file");
            }
            return Collections.singletonList(given);
        }
        binary();
        File artifact = isReleased ? artifact("so") : null;
        return artifact == null ? Collections.emptyList() : Collections.singletonList(placed(artifact, "so", "libinstrument_agent.so"));
    }

    /** The file of a repository; null: there is none. */
    private File artifact(String extension) {
        String version = NativeFiles.class.getPackage().getImplementationVersion();
        String notation = "io.github.instrument:instrument-native:" + version + ":" + platform() + "@" + extension;
        return project.getConfigurations().detachedConfiguration(project.getDependencies().create(notation)).getResolvedConfiguration()
            .getLenientConfiguration().getFiles().stream().findFirst().orElse(null);
    }

    /** An executable copy, whose content is that of the release. Builds at the same time each get the whole file. */
    private File placed(File source, String extension, String name) throws IOException {
        byte[] content = Files.readAllBytes(source.toPath());
        String wanted = digests().getProperty(platform() + "." + extension);
        String found = sha256(content);
        if (!found.equals(wanted)) {
            throw new GradleException(source + " is not the file that was released with this plugin: its SHA-256 is " + found + ", it should be " + wanted
                + ". Delete it and build again; if it stays so, ask who runs your mirror, or name a binary with -Pinstrument.executable=FILE");
        }
        Path target = InstrumentPlugin.buildFolder(project).toPath().resolve("instrument-native").resolve(name);
        if (Files.isExecutable(target) && sha256(Files.readAllBytes(target)).equals(wanted)) {
            return target.toFile();
        }
        Files.createDirectories(target.getParent());
        Path copy = Files.createTempFile(target.getParent(), name, ".tmp");
        try {
            try (OutputStream out = Files.newOutputStream(copy)) {
                out.write(content);
            }
            if (Files.getFileStore(copy).supportsFileAttributeView("posix")) {
                Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwxr-xr-x"));
            }
            Files.move(copy, target, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(copy);
        }
        return target.toFile();
    }

    /** The platform of this JVM, as the artifacts name it. */
    static String platform() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String machine = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        system = system.startsWith("mac") ? "macos" : system.startsWith("windows") ? "windows" : system.replace(' ', '-');
        machine = machine.equals("amd64") ? "x86_64" : machine.equals("arm64") ? "aarch64" : machine;
        return system + "-" + machine;
    }

    private static File onPath() {
        String path = System.getenv("PATH");
        String name = File.separatorChar == '\\' ? "instrument.exe" : "instrument";
        for (String folder : path == null ? new String[0] : path.split(File.pathSeparator)) {
            File file = new File(folder.isEmpty() ? "." : folder, name);
            if (file.isFile() && file.canExecute()) {
                return file.getAbsoluteFile();
            }
        }
        return null;
    }

    /** The SHA-256 of each file, by {@code PLATFORM.EXTENSION}; nothing, if the plugin was built without binaries. */
    private static Properties digests() throws IOException {
        Properties digests = new Properties();
        try (InputStream in = NativeFiles.class.getResourceAsStream(DIGESTS)) {
            if (in != null) {
                digests.load(in);
            }
        }
        return digests;
    }

    private static String sha256(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        try {
            for (byte b : MessageDigest.getInstance("SHA-256").digest(bytes)) {
                text.append(String.format("%02x", b));
            }
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
        return text.toString();
    }
}
