import java.io.BufferedOutputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Packs every module of the running JDK into one jar, all STORED: {@code java ModuleJars.java OUT}. */
class ModuleJars {
    public static void main(String[] arguments) throws Exception {
        Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        try (Stream<Path> list = Files.list(modules)) {
            for (Path module : list.collect(Collectors.toList())) {
                pack(module, Path.of(arguments[0], module.getFileName() + ".jar"));
            }
        }
    }

    private static void pack(Path module, Path jar) throws Exception {
        List<Path> files;
        try (Stream<Path> walk = Files.walk(module)) {
            files = walk.filter(Files::isRegularFile).sorted().collect(Collectors.toList());
        }
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(jar));
                ZipOutputStream zip = new ZipOutputStream(out)) {
            for (Path file : files) {
                byte[] bytes = Files.readAllBytes(file);
                CRC32 crc = new CRC32();
                crc.update(bytes);
                ZipEntry entry = new ZipEntry(module.relativize(file).toString());
                entry.setMethod(ZipEntry.STORED);
                entry.setSize(bytes.length);
                entry.setCrc(crc.getValue());
                entry.setTime(1_600_000_000_000L);
                zip.putNextEntry(entry);
                zip.write(bytes);
            }
        }
    }
}
