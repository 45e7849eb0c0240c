package instrument.launcher;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;

/**
 * The {@code Launcher-Agent-Class} of a rewritten jar: {@code java -jar} calls it before the main class is loaded. It puts the runtime on
 * the boot class path and redefines the JDK's classes for remote calls. Their new bytes were made when the jar was rewritten, for the
 * JDKs that were named then. Each class is known by the SHA-256 of its bytes: under another JDK nothing is changed, and that is said.
 *
 * <p>Whatever fails, the program starts. The runtime must not be loaded here before it is on the boot class path: no class of it is named.
 */
public final class LauncherAgent {
    /** The runtime, and the new classes: see {@link #INDEX}. */
    private static final String BOOT_JAR = "META-INF/instrument/launcher/boot.jar";
    /** Lines: {@code jdk VERSION} of each JDK, {@code class NAME} of each class. The new bytes of a class are at {@link #PATCHES}DIGEST. */
    private static final String INDEX = "META-INF/instrument/launcher/index";
    private static final String PATCHES = "META-INF/instrument/launcher/";
    private static final String RUNTIME = "instrument.runtime.RmiMarkers";
    /** Set to what was done; where it is missing the runtime says that nobody started this agent. */
    private static final String PROPERTY = "instrument.launcher";

    private LauncherAgent() {}

    /** Called by the launcher of Java 9 and later. */
    public static void agentmain(String arguments, Instrumentation instrumentation) {
        String done = "failed";
        try {
            done = start(instrumentation);
        } catch (Throwable e) {
            say("the JDK's classes could not be redefined (" + e + "): remote calls that dynamic proxies make or serve are not recorded");
        }
        try {
            System.setProperty(PROPERTY, done);
        } catch (SecurityException e) {
            // It was said already.
        }
    }

    private static String start(Instrumentation instrumentation) throws Exception {
        if (isOnBootPath()) {
            // The native agent, or instrument jdk-patch, has done it.
            return "present";
        }
        File file = Files.createTempFile("instrument-runtime", ".jar").toFile();
        try {
            copy(file);
            JarFile jar = new JarFile(file, false);
            try {
                return patch(jar, instrumentation);
            } finally {
                jar.close();
            }
        } finally {
            // The virtual machine keeps it open; where an open file cannot be deleted it goes at the end.
            if (!file.delete()) {
                file.deleteOnExit();
            }
        }
    }

    private static boolean isOnBootPath() {
        try {
            Class.forName(RUNTIME, false, null);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static void copy(File file) throws IOException {
        InputStream in = LauncherAgent.class.getClassLoader().getResourceAsStream(BOOT_JAR);
        if (in == null) {
            throw new IOException(BOOT_JAR + " is missing in the jar");
        }
        FileOutputStream out = new FileOutputStream(file);
        try {
            out.write(all(in));
        } finally {
            out.close();
        }
    }

    private static String patch(JarFile jar, Instrumentation instrumentation) throws Exception {
        String versions = "";
        List<String> names = new ArrayList<String>();
        for (String line : new String(all(jar.getInputStream(jar.getEntry(INDEX))), "UTF-8").split("\n")) {
            if (line.startsWith("jdk ")) {
                versions += (versions.isEmpty() ? "" : ", ") + line.substring(4);
            } else if (line.startsWith("class ")) {
                names.add(line.substring(6));
            }
        }
        List<byte[]> patched = new ArrayList<byte[]>();
        for (String name : names) {
            InputStream in = ClassLoader.getSystemResourceAsStream(name + ".class");
            if (in == null) {
                // A Java runtime without java.rmi makes no remote calls.
                return "no java.rmi";
            }
            ZipEntry entry = jar.getEntry(PATCHES + digest(all(in)));
            if (entry == null) {
                say("this jar was prepared for Java " + versions + ", but this is Java " + System.getProperty("java.runtime.version")
                    + " with another class " + name.replace('/', '.') + ": remote calls that dynamic proxies make or serve are not recorded;"
                    + " rewrite the jar with --launcher-agent " + System.getProperty("java.home"));
                return "unknown JDK";
            }
            patched.add(all(jar.getInputStream(entry)));
        }
        instrumentation.appendToBootstrapClassLoaderSearch(jar);
        ClassDefinition[] definitions = new ClassDefinition[names.size()];
        for (int i = 0; i < definitions.length; i++) {
            Class<?> loaded = Class.forName(names.get(i).replace('/', '.'), false, null);
            definitions[i] = new ClassDefinition(loaded, patched.get(i));
        }
        letRead(instrumentation, definitions[0].getDefinitionClass(), Class.forName(RUNTIME, false, null));
        instrumentation.redefineClasses(definitions);
        return "done";
    }

    /** Lets the module of one class read that of another. By reflection: Java 8 has neither. */
    private static void letRead(Instrumentation instrumentation, Class<?> reader, Class<?> read) throws Exception {
        Method module = Class.class.getMethod("getModule");
        Method redefine = Instrumentation.class.getMethod(
            "redefineModule", module.getReturnType(), Set.class, Map.class, Map.class, Set.class, Map.class);
        redefine.invoke(
            instrumentation, module.invoke(reader), Collections.singleton(module.invoke(read)), Collections.emptyMap(),
            Collections.emptyMap(), Collections.emptySet(), Collections.emptyMap());
    }

    private static String digest(byte[] bytes) throws Exception {
        StringBuilder text = new StringBuilder();
        for (byte part : MessageDigest.getInstance("SHA-256").digest(bytes)) {
            text.append(Character.forDigit(part >> 4 & 15, 16)).append(Character.forDigit(part & 15, 16));
        }
        return text.toString();
    }

    private static byte[] all(InputStream in) throws IOException {
        try {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] buffer = new byte[1 << 14];
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                out.write(buffer, 0, length);
            }
            return out.toByteArray();
        } finally {
            in.close();
        }
    }

    @SuppressWarnings("resource") // closing it would close the program's standard error
    private static void say(String message) {
        String line = "instrument: " + message + "\n";
        try {
            new FileOutputStream(FileDescriptor.err).write(line.getBytes(Charset.defaultCharset()));
        } catch (IOException e) {
            // There is nobody left to tell.
        } catch (SecurityException e) {
            // Nothing of the program has run: this is still the real one.
            System.err.print(line);
        }
    }
}
