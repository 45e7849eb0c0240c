package io.github.instrument.maven;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.TreeSet;
import org.apache.maven.plugin.MojoExecutionException;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.resolution.ArtifactRequest;
import org.eclipse.aether.resolution.ArtifactResolutionException;

/**
 * The binary and the agent as artifacts of this plugin's own group and version: {@code instrument-native:exe:linux-x86_64} and
 * {@code instrument-native:so:linux-x86_64}.
 *
 * <ol>
 * <li>The plugin holds the SHA-256 of each file that was released with it; what is not in this list is not asked for.
 * <li>Maven's own resolver gets the artifact, so mirrors, proxies, the local repository and the offline mode are those of the build.
 * <li>The file is copied to a private folder, since files of a local repository are not executable, and others may use them at this time.
 *     The copy is compared with the SHA-256, made executable, and only then gets its name.
 * </ol>
 */
final class NativeFiles {
    private static final String DIGESTS = "/META-INF/instrument/native.properties";

    private final RepositorySystem system;
    private final RepositorySystemSession session;
    private final List<RemoteRepository> repositories;
    private final String version;
    private final File folder;

    NativeFiles(RepositorySystem system, RepositorySystemSession session, List<RemoteRepository> repositories, String version, File folder) {
        this.system = system;
        this.session = session;
        this.repositories = repositories;
        this.version = version;
        this.folder = folder;
    }

    /** The platform of this JVM, as the artifacts name it. */
    static String platform() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String machine = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        system = system.startsWith("mac") ? "macos" : system.startsWith("windows") ? "windows" : system.replace(' ', '-');
        machine = machine.equals("amd64") ? "x86_64" : machine.equals("arm64") ? "aarch64" : machine;
        return system + "-" + machine;
    }

    /** The platforms for which this plugin has a binary. */
    static TreeSet<String> platforms() throws MojoExecutionException {
        TreeSet<String> platforms = new TreeSet<>();
        for (String key : digests().stringPropertyNames()) {
            platforms.add(key.substring(0, key.lastIndexOf('.')));
        }
        return platforms;
    }

    /** The executable file {@code name}, of which the artifact has the extension {@code exe} or {@code so}. */
    File file(String extension, String name) throws MojoExecutionException {
        String key = platform() + "." + extension;
        Properties digests = digests();
        String digest = digests.getProperty(key);
        if (digest == null) {
            throw new MojoExecutionException("no " + key + " was released with this plugin");
        }
        DefaultArtifact artifact = new DefaultArtifact("io.github.instrument", "instrument-native", platform(), extension, version);
        File source;
        try {
            source = system.resolveArtifact(session, new ArtifactRequest(artifact, repositories, null)).getArtifact().getFile();
        } catch (ArtifactResolutionException e) {
            throw new MojoExecutionException(e.getMessage(), e);
        }
        // Both files of one release, and no other, lie in one folder.
        List<String> all = new ArrayList<>(new TreeSet<>(digests.stringPropertyNames()));
        all.replaceAll(digests::getProperty);
        String release = hex(sha256().digest(String.join("\n", all).getBytes(StandardCharsets.UTF_8))).substring(0, 16);
        Path target = folder.toPath().resolve(version + "-" + release).resolve(name);
        try {
            place(source.toPath(), target, digest);
        } catch (IOException e) {
            throw new MojoExecutionException("cannot copy " + source + " to " + target + ": " + e
                + "; -Dinstrument.nativeDirectory=FOLDER names another place", e);
        }
        return target.toFile().getAbsoluteFile();
    }

    /** Copies, unless it is there already. Builds that run at the same time may do this at once: each gets the whole file or none. */
    private static void place(Path source, Path target, String digest) throws IOException, MojoExecutionException {
        MessageDigest sha256 = sha256();
        if (Files.isExecutable(target)) {
            Files.copy(target, new DigestOutputStream(NOWHERE, sha256));
            if (hex(sha256.digest()).equals(digest)) {
                return;
            }
        }
        Files.createDirectories(target.getParent());
        Path copy = Files.createTempFile(target.getParent(), target.getFileName() + ".", ".tmp");
        try {
            try (OutputStream out = new DigestOutputStream(Files.newOutputStream(copy), sha256)) {
                Files.copy(source, out);
            }
            String found = hex(sha256.digest());
            if (!found.equals(digest)) {
                throw new MojoExecutionException(source + " is not the file that was released with this plugin: its SHA-256 is " + found + ", it should be "
                    + digest + ". Delete it and build again; if it stays so, ask who runs your mirror, or name a binary with -Dinstrument.executable=FILE");
            }
            if (FileSystems.getDefault().supportedFileAttributeViews().contains("posix")) {
                Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwxr-xr-x"));
            }
            try {
                Files.move(copy, target, StandardCopyOption.ATOMIC_MOVE);
            } catch (AtomicMoveNotSupportedException e) {
                Files.move(copy, target, StandardCopyOption.REPLACE_EXISTING);
            }
        } finally {
            Files.deleteIfExists(copy);
        }
    }

    /** The SHA-256 of each file, by {@code PLATFORM.EXTENSION}; nothing, if the plugin was built without binaries. */
    private static Properties digests() throws MojoExecutionException {
        Properties digests = new Properties();
        try (InputStream in = NativeFiles.class.getResourceAsStream(DIGESTS)) {
            if (in != null) {
                digests.load(in);
            }
        } catch (IOException e) {
            throw new MojoExecutionException("cannot read " + DIGESTS + " of the plugin: " + e, e);
        }
        return digests;
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    private static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte b : bytes) {
            text.append(String.format("%02x", b));
        }
        return text.toString();
    }

    private static final OutputStream NOWHERE = new OutputStream() {
        @Override
        public void write(int b) {
        }

        @Override
        public void write(byte[] bytes, int from, int length) {
        }
    };
}
