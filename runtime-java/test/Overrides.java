import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Objects of the program whose methods the JDK calls on its behalf: whoever calls them on behalf of the recorder changes what the program does.
 * Usage: Overrides CALLS. A thread whose {@code isInterrupted} throws, one whose methods count how often they are called, and one that is plain, each with so many
 * calls of {@link Victim#leaf}. Prints how often anything of the program's own was called.
 */
public class Overrides {
    static volatile int asked;

    static class Throwing extends Thread {
        Throwing(Runnable task) {
            super(task);
        }

        @Override
        public boolean isInterrupted() {
            throw new IllegalStateException("asked");
        }
    }

    static class Counting extends Thread {
        Counting(Runnable task) {
            super(task);
        }

        @Override
        public boolean isInterrupted() {
            asked++;
            Victim.leaf(1);
            return super.isInterrupted();
        }

        @Override
        public long getId() {
            asked++;
            return 1;
        }

        @Override
        public String toString() {
            asked++;
            return "";
        }

        @Override
        public void interrupt() {
            asked++;
        }
    }

    public static void main(String[] args) throws Exception {
        // The JDK asked it, to begin.
        asked = 0;
        int calls = Integer.parseInt(args[0]);
        Runnable task = () -> {
            for (int i = 0; i < calls; i++) {
                Victim.leaf(i);
            }
        };
        for (Thread thread : new Thread[] {new Throwing(task), new Counting(task), new Thread(task)}) {
            thread.start();
            thread.join();
        }
        System.out.println("asked " + asked);
        System.out.println("done");
    }

    /** A default file system of the program's own, above that of the JDK. */
    public static class Provider extends FileSystemProvider {
        private final FileSystemProvider below;
        private final FileSystem system;

        public Provider(FileSystemProvider below) {
            this.below = below;
            system = new Own(this, below.getFileSystem(URI.create("file:///")));
        }

        /** Its paths, which know that they are its own. */
        Path own(Path path) {
            InvocationHandler handler = (self, method, arguments) -> {
                if (method.getName().equals("getFileSystem")) {
                    asked++;
                    return system;
                }
                Object[] plain = arguments == null ? new Object[0] : arguments.clone();
                for (int i = 0; i < plain.length; i++) {
                    plain[i] = plain[i] instanceof Path ? plain((Path) plain[i]) : plain[i];
                }
                Object result = method.invoke(path, plain);
                return result instanceof Path ? own((Path) result) : result;
            };
            Class<?>[] types = {Path.class, Supplier.class};
            return (Path) Proxy.newProxyInstance(Provider.class.getClassLoader(), types, (self, method, arguments) ->
                method.getName().equals("get") ? path : handler.invoke(self, method, arguments));
        }

        private static Path plain(Path path) {
            return path instanceof Supplier ? (Path) ((Supplier<?>) path).get() : path;
        }

        @Override
        public String getScheme() {
            return "file";
        }

        @Override
        public FileSystem newFileSystem(URI uri, Map<String, ?> env) throws IOException {
            return below.newFileSystem(uri, env);
        }

        @Override
        public FileSystem getFileSystem(URI uri) {
            return system;
        }

        @Override
        public Path getPath(URI uri) {
            return own(below.getPath(uri));
        }

        @Override
        public SeekableByteChannel newByteChannel(Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes) throws IOException {
            asked++;
            return below.newByteChannel(plain(path), options, attributes);
        }

        @Override
        public DirectoryStream<Path> newDirectoryStream(Path path, DirectoryStream.Filter<? super Path> filter) throws IOException {
            return below.newDirectoryStream(plain(path), filter);
        }

        @Override
        public void createDirectory(Path path, FileAttribute<?>... attributes) throws IOException {
            below.createDirectory(plain(path), attributes);
        }

        @Override
        public void delete(Path path) throws IOException {
            below.delete(plain(path));
        }

        @Override
        public void copy(Path from, Path to, CopyOption... options) throws IOException {
            below.copy(plain(from), plain(to), options);
        }

        @Override
        public void move(Path from, Path to, CopyOption... options) throws IOException {
            below.move(plain(from), plain(to), options);
        }

        @Override
        public boolean isSameFile(Path one, Path other) throws IOException {
            return below.isSameFile(plain(one), plain(other));
        }

        @Override
        public boolean isHidden(Path path) throws IOException {
            return below.isHidden(plain(path));
        }

        @Override
        public FileStore getFileStore(Path path) throws IOException {
            return below.getFileStore(plain(path));
        }

        @Override
        public void checkAccess(Path path, AccessMode... modes) throws IOException {
            below.checkAccess(plain(path), modes);
        }

        @Override
        public <V extends FileAttributeView> V getFileAttributeView(Path path, Class<V> type, LinkOption... options) {
            return below.getFileAttributeView(plain(path), type, options);
        }

        @Override
        public <A extends BasicFileAttributes> A readAttributes(Path path, Class<A> type, LinkOption... options) throws IOException {
            return below.readAttributes(plain(path), type, options);
        }

        @Override
        public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options) throws IOException {
            return below.readAttributes(plain(path), attributes, options);
        }

        @Override
        public void setAttribute(Path path, String attribute, Object value, LinkOption... options) throws IOException {
            below.setAttribute(plain(path), attribute, value, options);
        }
    }

    private static class Own extends FileSystem {
        private final Provider provider;
        private final FileSystem below;

        Own(Provider provider, FileSystem below) {
            this.provider = provider;
            this.below = below;
        }

        @Override
        public FileSystemProvider provider() {
            return provider;
        }

        @Override
        public void close() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public boolean isReadOnly() {
            return false;
        }

        @Override
        public String getSeparator() {
            return "/";
        }

        @Override
        public Iterable<Path> getRootDirectories() {
            return below.getRootDirectories();
        }

        @Override
        public Iterable<FileStore> getFileStores() {
            return below.getFileStores();
        }

        @Override
        public Set<String> supportedFileAttributeViews() {
            return below.supportedFileAttributeViews();
        }

        @Override
        public Path getPath(String first, String... more) {
            asked++;
            return provider.own(below.getPath(first, more));
        }

        @Override
        public PathMatcher getPathMatcher(String pattern) {
            return below.getPathMatcher(pattern);
        }

        @Override
        public UserPrincipalLookupService getUserPrincipalLookupService() {
            return below.getUserPrincipalLookupService();
        }

        @Override
        public WatchService newWatchService() throws IOException {
            return below.newWatchService();
        }
    }
}
