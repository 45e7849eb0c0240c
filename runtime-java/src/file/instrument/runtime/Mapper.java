package instrument.runtime;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.charset.Charset;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.Set;

/**
 * Everything done to the file itself: exclusive creation, growth by real zeros (a hole in a mapped file would be a bus
 * error on a full disk), mapping. A mapping reaches far behind the end of the file; what lies there is not touched before the file has grown. A channel is closed when the thread that uses it is interrupted; such an operation is
 * done again on a thread of our own, so that the program's thread keeps its interrupt status, untouched. So is one that a thread of the program's own
 * class has made fail, which the channel asks whether it is interrupted. A file system that the program has brought is not asked.
 */
final class Mapper {
    private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(1 << 16);

    /** The program has a file system of its own in the place of the default one. */
    private static final boolean HAS_FILE_SYSTEM = Privileged.property("java.nio.file.spi.DefaultFileSystemProvider") != null;

    private File path;
    private FileChannel channel;
    /** Compared when the file has to be opened again; 0 until it is known. */
    private long nonce;

    File path() {
        return path;
    }

    void nonce(long value) {
        nonce = value;
    }

    /** Maps for a thread that is interrupted, or of a class of the program, which waits for it and may hold the lock of all threads; null: there was none. */
    static volatile Thread helper;

    /** Creates {@code stem.suffix}, or {@code stem-2.suffix} and so on, and maps its first bytes. Never follows a link. */
    MappedByteBuffer create(String stem, String suffix, int length) throws IOException {
        Operation operation = new Operation(this);
        operation.stem = stem;
        operation.suffix = suffix;
        operation.length = length;
        return operation.result();
    }

    /** Opens the file that another copy of the runtime created in this process, and maps its first bytes. */
    MappedByteBuffer join(File path, long nonce, int length) throws IOException {
        this.path = path;
        this.nonce = nonce;
        Operation operation = new Operation(this);
        operation.length = length;
        return operation.result();
    }

    /** Maps {@code [offset, offset + length)}, {@code offset} being the end of the file, which stays there. */
    MappedByteBuffer map(long offset, int length) throws IOException {
        Operation operation = new Operation(this);
        operation.offset = offset;
        operation.length = length;
        operation.keepsEnd = true;
        return operation.result();
    }

    /** Nobody needs the file any more; what Java has mapped stays. */
    void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // Then it is open until this object is collected.
        }
    }

    /** Fills {@code [offset, offset + length)} with zeros. */
    void extend(long offset, int length) throws IOException {
        Operation operation = new Operation(this);
        operation.offset = offset;
        operation.length = length;
        operation.fills = true;
        operation.finish();
    }

    /** One operation, runnable here or on another thread. */
    private static final class Operation implements Runnable {
        private final Mapper file;
        String stem;
        String suffix;
        long offset;
        int length;
        boolean fills;
        boolean keepsEnd;
        /** On a thread of its own. */
        private boolean detached;
        private boolean begun;
        private File leftover;
        private volatile boolean done;
        private volatile MappedByteBuffer mapped;
        private volatile IOException failure;
        /** Thread.stop came, and the JDK has lost it. */
        private boolean stopped;

        Operation(Mapper file) {
            this.file = file;
        }

        MappedByteBuffer result() throws IOException {
            finish();
            mapped.order(ByteOrder.LITTLE_ENDIAN);
            return mapped;
        }

        void finish() throws IOException {
            // A channel asks the thread whether it is interrupted, and one of a class of the program answers with code of the program.
            boolean isPlain = Thread.currentThread().getClass().getClassLoader() == null;
            if (isPlain) {
                Privileged.run(this);
            }
            boolean stopped = this.stopped;
            if (stopped) {
                failure = null;
                this.stopped = false;
                Privileged.run(this);
            }
            if (!isPlain || failure instanceof ClosedByInterruptException) {
                failure = null;
                detach();
            }
            if (!done) {
                throw failure != null ? failure : new IOException("no mapping");
            }
            Error death = stopped ? ThreadStop.again() : null;
            if (death != null) {
                throw death;
            }
        }

        private void detach() {
            detached = true;
            begun = false;
            Thread helper = OwnThreads.thread(this);
            helper.setDaemon(true);
            Mapper.helper = helper;
            // join() would throw at once where the program's thread is interrupted, and take its interrupt with it.
            // Not for its end: on the way out it may need the lock that we hold.
            // What starts it or waits initialises no class of the JDK: see OwnThreads.
            Error death = null;
            for (boolean waits = true; waits;) {
                try {
                    if (death == null) {
                        start(helper);
                    }
                    while (!done && failure == null && helper.isAlive()) {
                        Thread.yield();
                    }
                    waits = false;
                } catch (Error e) {
                    // Whoever is stopped waits all the same: the file is the helper's until it is done, if it has started.
                    death = e;
                    waits = helper.isAlive();
                }
            }
            if (death != null) {
                throw death;
            }
        }

        private void start(Thread helper) {
            try {
                helper.start();
            } catch (OutOfMemoryError e) {
                // There can be no more threads.
                Privileged.run(this);
            }
        }

        @Override
        public void run() {
            if (detached && !begun) {
                begun = true;
                Privileged.run(this);
                return;
            }
            boolean sound = false;
            try {
                if (stem != null) {
                    create();
                } else {
                    file.reopen();
                }
                if (fills || stem != null) {
                    fill(offset, offset + length);
                }
                if (!fills) {
                    mapped = file.mapByAgent(offset, length);
                    if (mapped == null && keepsEnd) {
                        mapBehindEnd();
                    } else if (mapped == null) {
                        mapped = file.channel.map(FileChannel.MapMode.READ_WRITE, offset, length);
                    }
                }
                done = true;
                sound = true;
            } catch (IOException e) {
                failure = e;
                sound = true;
            } catch (IndexOutOfBoundsException e) {
                // A channel numbers the threads that use it. One that is stopped before it has its number gives back number -1 on its way
                // out (sun.nio.ch.NativeThreadSet), and this takes the place of ThreadDeath.
                stopped = true;
                failure = new IOException(e.toString());
            } catch (RuntimeException | OutOfMemoryError e) {
                failure = new IOException(e.toString());
            } finally {
                if (!sound) {
                    // It may wait for ever for this thread when it is closed: another one takes its place.
                    file.channel = null;
                }
            }
        }

        private void fill(long from, long end) throws IOException {
            for (long at = from; at < end;) {
                ByteBuffer zeros = ZEROS.duplicate();
                zeros.limit((int) Math.min(zeros.capacity(), end - at));
                at += file.channel.write(zeros, at);
            }
        }

        /** A file is as long as its mapping at the moment when that is made; for that moment it has a hole. */
        private void mapBehindEnd() throws IOException {
            try {
                fill(offset + length - 1, offset + length);
                mapped = file.channel.map(FileChannel.MapMode.READ_WRITE, offset, length);
            } finally {
                if (file.channel.isOpen()) {
                    cut();
                }
            }
        }

        private void cut() throws IOException {
            try {
                file.channel.truncate(offset);
            } catch (ClosedChannelException e) {
                throw e;
            } catch (IOException e) {
                // Windows cuts no file that is mapped. Readers take the zeros for its end.
            }
        }

        private void create() throws IOException {
            if (leftover != null) {
                leftover.delete();
            }
            for (int attempt = 1;; attempt++) {
                String name = attempt == 1 ? stem + suffix : stem + "-" + attempt + suffix;
                File path = new File(name).getAbsoluteFile();
                FileChannel channel = Mapper.create(path);
                if (channel != null) {
                    file.channel = channel;
                    file.path = path;
                    leftover = path;
                    return;
                }
                if (attempt == 10000) {
                    throw new FileAlreadyExistsException(name);
                }
            }
        }
    }

    /** A new file, which nobody else may read; null: there is one. */
    private static FileChannel create(File path) throws IOException {
        if (HAS_FILE_SYSTEM) {
            return path.createNewFile() && path.setReadable(false, false) && path.setReadable(true) && path.setWritable(false, false)
                && path.setWritable(true) ? open(path) : null;
        }
        Set<OpenOption> options = new HashSet<OpenOption>();
        options.add(StandardOpenOption.CREATE_NEW);
        options.add(StandardOpenOption.READ);
        options.add(StandardOpenOption.WRITE);
        options.add(LinkOption.NOFOLLOW_LINKS);
        try {
            FileAttribute<?> mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
            try {
                return FileChannel.open(path.toPath(), options, mode);
            } catch (UnsupportedOperationException e) {
                // No POSIX permissions on this file system.
                return FileChannel.open(path.toPath(), options);
            }
        } catch (FileAlreadyExistsException e) {
            return null;
        }
    }

    @SuppressWarnings("resource") // it is closed with its channel
    private static FileChannel open(File path) throws IOException {
        return HAS_FILE_SYSTEM ? new RandomAccessFile(path, "rw").getChannel()
            : FileChannel.open(path.toPath(), StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    }

    /** Null: there is no agent, or it cannot. */
    private MappedByteBuffer mapByAgent(long offset, int length) {
        byte[] name = Mappings.here ? path.toString().getBytes(Charset.forName("UTF-8")) : null;
        return name == null ? null : (MappedByteBuffer) Mappings.map(name, nonce, offset, length);
    }

    private void reopen() throws IOException {
        if (channel != null && channel.isOpen()) {
            return;
        }
        FileChannel opened = open(path);
        // Any other buffer makes the JDK initialise sun.nio.ch.Util$BufferCache here. In a thread that is stopped meanwhile that fails, and no
        // channel of the program works from then on.
        ByteBuffer word = ByteBuffer.allocateDirect(8).order(ByteOrder.LITTLE_ENDIAN);
        if (opened.read(word, Format.NONCE * 8) != 8 || word.getLong(0) != nonce) {
            opened.close();
            throw new IOException(path + " is no longer the file of this process");
        }
        channel = opened;
    }
}
