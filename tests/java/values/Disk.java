import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.FileReader;
import java.io.FileWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.lang.reflect.Proxy;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Opens files in every way that the JDK has. */
final class Disk {
    private Disk() {}

    public static void main(String[] args) throws Exception {
        new File("data").mkdir();
        if (args.length > 0) {
            many(Integer.parseInt(args[0]));
            return;
        }
        streams();
        readers();
        random();
        reads();
        writes();
        channels();
        moves();
        missing();
        own();
        constructed();
        hostile();
        thrown();
        System.out.println("done");
    }

    private static void streams() throws IOException {
        for (int i = 0; i < 5; i++) {
            try (OutputStream out = new FileOutputStream("data/part-" + i + ".csv")) {
                out.write(i);
            }
            try (OutputStream out = new FileOutputStream(new File("data", "part-" + i + ".csv"), i % 2 == 0)) {
                out.write(i);
            }
            try (InputStream in = new FileInputStream(new File("data/part-" + i + ".csv"))) {
                in.read();
            }
        }
        // No paths.
        new FileOutputStream(java.io.FileDescriptor.out).flush();
    }

    private static void readers() throws IOException {
        new FileWriter("data/a1b22.txt").close();
        new FileWriter(new File("data/a1b22.txt"), true).close();
        new FileWriter("data/a1b22.txt", StandardCharsets.UTF_8, true).close();
        new FileReader("data/a1b22.txt").close();
        new FileReader(new File("data/a1b22.txt"), StandardCharsets.UTF_8).close();
    }

    private static void random() throws IOException {
        for (String mode : new String[] {"rw", "r", "rws"}) {
            new RandomAccessFile("data/random", mode).close();
            new RandomAccessFile(new File("data/random"), mode).close();
        }
    }

    private static void reads() throws IOException {
        Path path = Path.of("data", "part-1.csv");
        Files.newInputStream(path).close();
        Files.newInputStream(path, StandardOpenOption.READ).close();
        Files.newBufferedReader(path).close();
        try (BufferedReader in = Files.newBufferedReader(path, StandardCharsets.UTF_8)) {
            in.read();
        }
        long sum = Files.readAllBytes(path).length;
        sum += Files.readString(path).length() + Files.readString(path, StandardCharsets.UTF_8).length();
        sum += Files.readAllLines(path).size() + Files.readAllLines(path, StandardCharsets.UTF_8).size();
        try (Stream<String> lines = Files.lines(path); Stream<String> again = Files.lines(path, StandardCharsets.UTF_8)) {
            sum += lines.count() + again.count();
        }
        sum += Files.copy(path, new ByteArrayOutputStream());
        System.out.println(sum);
    }

    private static void writes() throws IOException {
        Path path = Path.of("data/out.txt");
        Files.newOutputStream(path).close();
        Files.newBufferedWriter(path).close();
        try (BufferedWriter out = Files.newBufferedWriter(path, StandardCharsets.UTF_8, StandardOpenOption.APPEND)) {
            out.write("x");
        }
        Files.write(path, new byte[3]);
        Files.write(path, List.of("line"));
        Files.write(path, List.of("line"), StandardCharsets.UTF_8, StandardOpenOption.CREATE);
        Files.writeString(path, "text");
        Files.writeString(path, "text", StandardCharsets.UTF_8, StandardOpenOption.APPEND);
        Files.copy(new ByteArrayInputStream(new byte[7]), path, StandardCopyOption.REPLACE_EXISTING);
    }

    private static void channels() throws IOException {
        Path path = Path.of("data/channel");
        Files.newByteChannel(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE).close();
        Files.newByteChannel(path, Set.of(StandardOpenOption.APPEND)).close();
        FileChannel.open(path, Set.of(StandardOpenOption.WRITE, StandardOpenOption.READ)).close();
        try (SeekableByteChannel channel = Files.newByteChannel(path); FileChannel other = FileChannel.open(path, StandardOpenOption.READ)) {
            System.out.println(channel.size() + other.size());
        }
    }

    private static void moves() throws IOException {
        for (int i = 0; i < 3; i++) {
            Path from = Path.of("data/part-" + i + ".csv");
            Path to = Path.of("data/copy-" + i + ".csv");
            Files.copy(from, to);
            Files.move(to, Path.of("data/moved"), StandardCopyOption.REPLACE_EXISTING);
            Files.delete(from);
            Files.deleteIfExists(from);
        }
    }

    private static void missing() throws IOException {
        for (int i = 0; i < 3; i++) {
            try {
                new FileInputStream("missing/" + i).close();
            } catch (FileNotFoundException e) {
                // The next one is told of all the same.
                Files.writeString(Path.of("data/found"), "x");
            }
        }
        try {
            Files.delete(Path.of("missing"));
        } catch (NoSuchFileException e) {
            Files.deleteIfExists(Path.of("missing"));
        }
    }

    /** Paths that are classes of the program: nobody asks them. */
    private static void own() throws IOException {
        Path path = (Path) Proxy.newProxyInstance(Disk.class.getClassLoader(), new Class<?>[] {Path.class}, (self, method, arguments) -> {
            check();
            throw new UnsupportedOperationException();
        });
        try {
            Files.newInputStream(path);
        } catch (UnsupportedOperationException e) {
            new FileOutputStream(new OwnFile("data/own")).close();
        }
        try {
            new FileInputStream((File) null);
        } catch (NullPointerException e) {
            System.out.println("null");
        }
    }

    private static void check() {
        for (StackTraceElement element : new Throwable().getStackTrace()) {
            if (element.getClassName().startsWith("instrument.")) {
                Runtime.getRuntime().halt(9);
            }
        }
    }

    private static final class OwnFile extends File {
        private static final long serialVersionUID = 1;

        OwnFile(String path) {
            super(path);
        }

        @Override
        public String getPath() {
            check();
            return super.getPath();
        }

        @Override
        public String toString() {
            check();
            return super.toString();
        }
    }

    private static void constructed() throws IOException {
        for (String folder : new String[] {"data", "nowhere", "data"}) {
            try {
                new Journal(new File(folder, "journal-7")).close();
            } catch (FileNotFoundException e) {
                Files.writeString(Path.of("data/found"), "x");
            }
        }
    }

    /** The file is opened by super(). */
    private static class Journal extends FileWriter {
        Journal(File file) throws IOException {
            super(file, true);
        }
    }

    private static void hostile() {
        String[] paths = {"a\u001b[2J\nb c/\u202e\ud800x", "x".repeat(5_000), "1f0e2d3c4b5a6978/0a1b2c3d-0000-4000-8000-00a0c91e6bf6.tmp", "C:\\Temp\\9"};
        for (String path : paths) {
            try {
                new FileInputStream("missing/" + path).close();
            } catch (IOException e) {
                System.out.print('.');
            }
        }
        System.out.println();
    }

    private static void thrown() {
        try {
            leaves();
        } catch (IOException e) {
            System.out.println("left");
        }
    }

    private static void leaves() throws IOException {
        Files.readAllBytes(Path.of("missing/all"));
    }

    private static void many(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            String name = "" + (char) ('a' + i / 676) + (char) ('a' + i / 26 % 26) + (char) ('a' + i % 26);
            for (int j = 0; j < 2; j++) {
                new FileOutputStream("data/" + name).close();
            }
        }
    }
}
