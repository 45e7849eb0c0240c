package instrument.runtime;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLConnection;
import java.util.Enumeration;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

/** What a profile says about the process it comes from, and the id maps it carries. */
final class Host {
    static final String ID_MAP = "META-INF/instrument/ids.gz";

    private Host() {}

    /** The process id as this process sees it; 0 if it cannot be found out. Needs no java.management. */
    static long pid() {
        try {
            return Long.parseLong(new File("/proc/self").getCanonicalFile().getName());
        } catch (Exception e) {
            // Not Linux.
        }
        try {
            Class<?> handle = Class.forName("java.lang.ProcessHandle");
            Object current = handle.getMethod("current").invoke(null);
            return ((Long) handle.getMethod("pid").invoke(current)).longValue();
        } catch (Exception e) {
            // Java 8.
        }
        try {
            Class<?> factory = Class.forName("java.lang.management.ManagementFactory");
            Object bean = factory.getMethod("getRuntimeMXBean").invoke(null);
            Class<?> type = Class.forName("java.lang.management.RuntimeMXBean");
            String name = (String) type.getMethod("getName").invoke(bean);
            return Long.parseLong(name.substring(0, name.indexOf('@')));
        } catch (Exception e) {
            return 0;
        }
    }

    /** Lines of KEY=VALUE. A line break or backslash in a value is escaped. */
    static String properties(Settings settings) {
        StringBuilder text = new StringBuilder();
        ProfileFile.line(text, "java.vm.name", Privileged.property("java.vm.name"));
        ProfileFile.line(text, "java.vm.version", Privileged.property("java.vm.version"));
        ProfileFile.line(text, "java.version", Privileged.property("java.version"));
        ProfileFile.line(text, "os", Privileged.property("os.name") + " " + Privileged.property("os.version") + " " + Privileged.property("os.arch"));
        ProfileFile.line(text, "processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
        ProfileFile.line(text, "directory", Privileged.property("user.dir"));
        ProfileFile.line(text, "name", settings.called);
        ProfileFile.line(text, "labels", settings.labels);
        ProfileFile.line(text, "command", Privileged.property("sun.java.command"));
        ProfileFile.line(text, "start-class", startClass());
        ProfileFile.line(text, "host", hostName());
        ProfileFile.line(text, "record", settings.recorded());
        ProfileFile.line(text, "burst", settings.bursts());
        if (settings.record == Settings.TREE || settings.samples) {
            ProfileFile.line(text, "timing", settings.timing());
        }
        if (settings.record == Settings.TREE) {
            ProfileFile.line(text, "limit.depth", Integer.toString(settings.depth));
            ProfileFile.line(text, "limit.contexts", Integer.toString(settings.contexts));
        }
        if (settings.limit != Long.MAX_VALUE) {
            ProfileFile.line(text, "limit.bytes", Long.toString(settings.limit));
        }
        if (settings.record != Settings.TRACE && settings.record != Settings.SAMPLES) {
            ProfileFile.line(text, "limit.threads", Integer.toString(settings.keptThreads));
        }
        text.append(Clock.properties());
        if (settings.samples || settings.record == Settings.SAMPLES) {
            text.append(Samples.properties());
        }
        ProfileFile.line(text, "roots", settings.roots);
        ProfileFile.line(text, "latency", settings.latency);
        if (Settings.agentLines != null) {
            text.append(Settings.agentLines);
        }
        for (Map.Entry<String, String> region : regions().entrySet()) {
            ProfileFile.line(text, region.getKey(), region.getValue());
        }
        return text.toString();
    }

    /** What a Spring Boot archive starts: the program's own class, among the libraries that it carries; null: it is none. */
    private static String startClass() {
        String path = Privileged.property("java.class.path");
        if (path == null || !path.endsWith("ar") || path.contains(File.pathSeparator)) {
            return null;
        }
        try {
            JarFile jar = new JarFile(path);
            try {
                Manifest manifest = jar.getManifest();
                return manifest == null ? null : manifest.getMainAttributes().getValue("Start-Class");
            } finally {
                jar.close();
            }
        } catch (Exception e) {
            return null;
        }
    }

    /** What was inserted where, and the names of the code regions, of every program on the class path that was instrumented. */
    private static Map<String, String> regions() {
        Map<String, String> regions = new TreeMap<String, String>();
        TreeSet<String> selections = new TreeSet<String>();
        try {
            ClassLoader loader = Host.class.getClassLoader();
            Enumeration<URL> all = loader == null
                ? ClassLoader.getSystemResources(Settings.RESOURCE)
                : loader.getResources(Settings.RESOURCE);
            while (all.hasMoreElements()) {
                InputStream in = open(all.nextElement());
                try {
                    Properties properties = new Properties();
                    properties.load(in);
                    for (String key : properties.stringPropertyNames()) {
                        String value = properties.getProperty(key);
                        if (key.startsWith("region.")) {
                            regions.put(key, value);
                        } else if (key.equals("selection") && Settings.agentLines == null) {
                            selections.add(value);
                        }
                    }
                } finally {
                    in.close();
                }
            }
        } catch (Exception e) {
            Log.say("cannot read the names of the code regions: " + e);
        }
        if (Settings.imageSelection != null) {
            selections.add(Settings.imageSelection);
        }
        StringBuilder all = new StringBuilder();
        for (String selection : selections) {
            all.append(all.length() == 0 ? "" : "; ").append(selection);
        }
        if (all.length() > 0) {
            regions.put("selection", all.toString());
        }
        return regions;
    }

    /** A resource. A cached connection would keep the program's jar open. */
    static InputStream open(URL url) throws IOException {
        URLConnection connection = url.openConnection();
        connection.setUseCaches(false);
        return connection.getInputStream();
    }

    /** Without the network: a look-up of our own address may take seconds. */
    private static String hostName() {
        try {
            InputStream in = new FileInputStream("/proc/sys/kernel/hostname");
            try {
                return new String(read(in), "UTF-8").trim();
            } finally {
                in.close();
            }
        } catch (Exception e) {
            try {
                String name = System.getenv("HOSTNAME");
                return name != null ? name : System.getenv("COMPUTERNAME");
            } catch (SecurityException f) {
                return null;
            }
        }
    }

    /**
     * Copies every id map that this class's loader finds into the file, as it is. May run code of the program's class
     * loader, so the caller holds no lock.
     */
    static void copyIdMaps(ProfileFile file) throws IOException {
        ClassLoader loader = Host.class.getClassLoader();
        Enumeration<URL> maps =
            loader == null ? ClassLoader.getSystemResources(ID_MAP) : loader.getResources(ID_MAP);
        while (maps.hasMoreElements()) {
            URL url = maps.nextElement();
            try {
                InputStream in = open(url);
                try {
                    byte[] map = read(in);
                    if (!file.write(Format.ID_MAP, map, map.length)) {
                        return;
                    }
                } finally {
                    in.close();
                }
            } catch (IOException e) {
                Log.say("cannot copy the id map " + url + ": " + e);
            }
        }
    }

    private static byte[] read(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        for (int n; (n = in.read(buffer)) > 0;) {
            out.write(buffer, 0, n);
        }
        return out.toByteArray();
    }
}
