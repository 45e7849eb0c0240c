package instrument.runtime;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.MappedByteBuffer;
import java.nio.charset.Charset;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The profile of this process: header, blocks, and the regions in them. Blocks are taken from the end of the file under a
 * lock that all copies of the runtime in this process share (an interned string); regions are taken from a copy's own
 * blocks under its own lock. Nothing here runs on a probe's fast path.
 */
final class ProfileFile {
    private static final String PROPERTY = "instrument.profile.file";
    private static final String SUFFIX = ".iprof";
    private static final int FIRST_BLOCK = 1 << 16;
    private static final int LARGEST_BLOCK = 1 << 20;
    private static final int PAGE = 4096;
    /**
     * Bytes of a mapping: all that an index can reach. Most of it lies behind the end of the file, which grows under it. Windows makes
     * the file as long as its mapping.
     */
    private static final int LARGEST_MAPPING = File.separatorChar == '\\' ? 1 << 26 : Integer.MAX_VALUE & -PAGE;
    /** Left over at the end of a block, this many bytes are not worth a region. */
    private static final int SMALLEST_LEFT = 256;

    private final Mapper mapper = new Mapper();
    private final LongBuffer header;
    private final long limit;
    /** Number of this copy of the runtime, from 1. */
    final int copy;
    private final AtomicLong dropped = new AtomicLong();
    private volatile boolean failed;

    /** The mapping that regions are taken from; null: there is none yet. */
    private MappedByteBuffer bytes;
    private Words words;
    /** File offset of its beginning. */
    private long mappedAt;
    /** What is used of it, and where the block ends. */
    private int used;
    private int blockEnd;
    private int nextBlock = FIRST_BLOCK;
    /** Regions to use again, by the logarithm of their length. */
    private final Region[][] free = new Region[32][];
    private final int[] freeCount = new int[32];

    /** Creates the file of this process, or joins it if another copy of the runtime did so already. */
    ProfileFile(Settings settings, long pid) throws IOException {
        limit = settings.limit;
        synchronized (PROPERTY) {
            LongBuffer joined = join(pid);
            if (joined == null) {
                String stem = stem(settings, pid);
                if (settings.out != null) {
                    removeEnded(new File(stem + SUFFIX), pid);
                }
                MappedByteBuffer mapped = mapper.create(stem, SUFFIX, Format.FILE_HEADER);
                header = mapped.asLongBuffer();
                long nonce = System.nanoTime() * 0x9E3779B97F4A7C15L ^ System.currentTimeMillis() << 20 ^ pid | 1;
                mapper.nonce(nonce);
                header.put(Format.NONCE, nonce);
                header.put(Format.PID, pid);
                header.put(Format.START, System.currentTimeMillis());
                header.put(Format.START_CLOCK, Clock.now());
                header.put(Format.END, Format.FILE_HEADER);
                header.put(1, (long) Format.FILE_HEADER << 32 | Format.VERSION);
                header.put(0, Format.MAGIC);
                try {
                    System.setProperty(PROPERTY, pid + ":" + nonce + ":" + mapper.path());
                } catch (SecurityException e) {
                    // Then another copy of the runtime writes a file of its own.
                }
            } else {
                header = joined;
            }
            copy = (int) header.get(Format.COPIES) + 1;
            header.put(Format.COPIES, copy);
        }
    }

    /** The header of the file that another copy created, or null. */
    private LongBuffer join(long pid) {
        try {
            String value = System.getProperty(PROPERTY);
            if (value != null) {
                String[] parts = value.split(":", 3);
                // A child process may have been given all of our properties.
                if (parts.length == 3 && Long.parseLong(parts[0]) == pid) {
                    long nonce = Long.parseLong(parts[1]);
                    return mapper.join(new File(parts[2]), nonce, Format.FILE_HEADER).asLongBuffer();
                }
            }
        } catch (SecurityException e) {
            // As if there were none.
        } catch (Exception e) {
            Log.say("cannot share the profile of this process (" + e + "); writing another one");
        }
        return null;
    }

    /**
     * The profile of an earlier run, which has ended, makes room for this one. Under `instrument run` it may be one of the same run, and what
     * was there before has been put aside.
     */
    private static void removeEnded(File file, long pid) {
        if (!file.isFile() || System.getenv("INSTRUMENT_RUN_PROCESSES") != null) {
            return;
        }
        // Another process may put its own there between a look and a removal: what was taken away is looked at again.
        File aside = new File(file.getPath() + "." + pid);
        if (hasEnded(file) && file.renameTo(aside)) {
            if (hasEnded(aside)) {
                aside.delete();
            } else if (!file.exists()) {
                aside.renameTo(file);
            }
        }
    }

    /** Whether a file is a profile whose program has ended. */
    private static boolean hasEnded(File file) {
        ByteBuffer head = ByteBuffer.allocate(8 * (Format.SHUTDOWN + 1)).order(ByteOrder.LITTLE_ENDIAN);
        try {
            RandomAccessFile there = new RandomAccessFile(file, "r");
            try {
                there.readFully(head.array());
            } finally {
                there.close();
            }
        } catch (IOException e) {
            // Whatever it is, it stays, and this run's profile has another name.
            return false;
        }
        return head.getLong(0) == Format.MAGIC && head.getLong(8 * Format.SHUTDOWN) != 0;
    }

    private static String stem(Settings settings, long pid) {
        String name = settings.name + "-" + pid;
        if (settings.out == null) {
            return name;
        }
        String given = settings.out.replace("%p", Long.toString(pid));
        File out = new File(given);
        if (given.endsWith("/") || out.isDirectory()) {
            return new File(out, name).getPath();
        }
        String path = out.getPath();
        return path.endsWith(SUFFIX) ? path.substring(0, path.length() - SUFFIX.length()) : path;
    }

    /** Where the file is, for messages. */
    String path() {
        return String.valueOf(mapper.path());
    }

    /**
     * A zeroed region that readers do not see yet, or null when there is no room for it. Lengths that are a power of two
     * can be given back.
     */
    synchronized Region allocate(int length) {
        int rounded = rounded(length);
        int log = 31 - Integer.numberOfLeadingZeros(rounded);
        Region region = rounded == 1 << log ? reuse(log) : null;
        return region == null ? append(rounded) : region;
    }

    /** The same in the mapping of these words. */
    Region allocate(Words words, int length) {
        Region region = allocate(length);
        if (region != null && region.words != words) {
            release(region);
            return null;
        }
        return region;
    }

    /** A new region behind all others, or null. */
    private synchronized Region append(int rounded) {
        return rounded > blockEnd - used && !nextBlock(rounded) ? null : take(rounded);
    }

    private static int rounded(int length) {
        return length + 63 & -64;
    }

    /** The next bytes of the block. */
    private Region take(int length) {
        Region region = new Region(words, bytes, used, length, mappedAt);
        region.put(1, length);
        used += length;
        return region;
    }

    /** A region that was given back, or a part of one; null: there is none. */
    private Region reuse(int log) {
        int from = log;
        while (from < freeCount.length && freeCount[from] == 0) {
            from++;
        }
        if (from == freeCount.length) {
            return null;
        }
        Region region = free[from][--freeCount[from]];
        while (from > log) {
            from--;
            Region[] halves = region.halves();
            keep(halves[1], from);
            region = halves[0];
        }
        region.clearBody();
        return region;
    }

    /** Takes a region back that nothing refers to any more. */
    synchronized void release(Region region) {
        region.hide();
        int log = 31 - Integer.numberOfLeadingZeros(region.length);
        if (region.length == 1 << log) {
            keep(region, log);
        }
    }

    private void keep(Region region, int log) {
        if (free[log] == null) {
            free[log] = new Region[16];
        } else if (freeCount[log] == free[log].length) {
            free[log] = java.util.Arrays.copyOf(free[log], freeCount[log] * 2);
        }
        free[log][freeCount[log]++] = region;
    }

    private boolean nextBlock(int length) {
        if (failed) {
            return false;
        }
        StackLevels.need(StackLevels.OF_FILE);
        // The largest regions are powers of two: without the page for the header there were room for one fewer.
        int size = Math.max(nextBlock + PAGE, length + Format.HEADER + PAGE - 1 & -PAGE);
        String reason;
        try {
            synchronized (PROPERTY) {
                long end = header.get(Format.END);
                if (size <= limit - end) {
                    keepRest();
                    if (words == null || end + size > mappedAt + bytes.capacity()) {
                        map(end, size);
                    }
                    mapper.extend(end, size);
                    // Thread.stop may come between any two of these: at worst the block is lost, but nothing is given out twice.
                    int at = (int) (end - mappedAt);
                    words.put((at >> 3) + 1, size);
                    words.put(at >> 3, (long) copy << 32 | Format.BLOCK);
                    blockEnd = 0;
                    header.put(Format.END, end + size);
                    used = at + Format.HEADER;
                    blockEnd = at + size;
                    nextBlock = Math.min(nextBlock * 2, LARGEST_BLOCK);
                    return true;
                }
                reason = "the limit of " + limit + " bytes is reached (instrument.limit)";
            }
        } catch (IOException e) {
            reason = e.getMessage();
        }
        fail(reason);
        return false;
    }

    /** Maps the end of the file and as much behind it as can be had. */
    private void map(long end, int least) throws IOException {
        for (int length = LARGEST_MAPPING;; length = length / 2 & -PAGE) {
            try {
                bytes = mapper.map(end, length);
                break;
            } catch (IOException e) {
                // Address space, or the size of a file, may be limited.
                if (length / 2 < Math.max(least, FIRST_BLOCK)) {
                    throw e;
                }
            }
        }
        // What is cut off here begins with a mapping again.
        words = null;
        mappedAt = end;
        words = Memory.of(bytes);
    }

    /** What is left of the block may be used for smaller regions. */
    private void keepRest() {
        for (int rest = blockEnd - used; rest >= SMALLEST_LEFT; rest = blockEnd - used) {
            int log = 31 - Integer.numberOfLeadingZeros(rest);
            keep(take(1 << log), log);
        }
    }

    /** Takes no further block; says so once. */
    void fail(String reason) {
        boolean first = !failed;
        failed = true;
        if (first) {
            Log.say("the profile " + path() + " is incomplete from here on: " + reason);
        }
    }

    /** The recording is over: the file grows no more, is mapped no more, and nobody else in this process joins it. */
    synchronized void close() {
        failed = true;
        mapper.close();
        if (Mappings.here) {
            Mappings.end(header.get(Format.END));
        }
        synchronized (PROPERTY) {
            try {
                String value = System.getProperty(PROPERTY);
                if (value != null && value.endsWith(":" + mapper.path())) {
                    System.clearProperty(PROPERTY);
                }
            } catch (SecurityException e) {
                // It stays: another recording joins this file, and reads as its continuation.
            }
        }
    }

    /** This copy of the recorder goes; the others go on. */
    synchronized void leave() {
        failed = true;
        mapper.close();
    }

    /** ns since the file was made. */
    long age() {
        return Clock.now() - header.get(Format.START_CLOCK);
    }

    /** Writes the clock into a word of the header. */
    void clock(int word) {
        header.put(word, Clock.now());
    }

    /** Counts an event that a thread without a region could not record. */
    void drop() {
        header.put(Format.DROPPED, dropped.incrementAndGet());
    }

    /** Writes a region of text: properties. */
    boolean write(int kind, String text) {
        byte[] data = text.getBytes(Charset.forName("UTF-8"));
        return write(kind, data, data.length);
    }

    /** Writes a region of bytes, an id map or properties, behind all others: of a property that is written again, readers take the last value. */
    boolean write(int kind, byte[] data, int length) {
        Region region = length > Integer.MAX_VALUE - (1 << 20) ? null : append(rounded(Format.HEADER + length));
        if (region == null) {
            return false;
        }
        region.put(2, length);
        region.put(Format.HEADER, data, length);
        region.publish(kind, 0);
        return true;
    }

    /** Adds a property to lines of KEY=VALUE; null: there is none. A line break or backslash in a value is escaped. */
    static void line(StringBuilder text, String key, String value) {
        if (value != null) {
            String escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r");
            text.append(key).append('=').append(escaped).append('\n');
        }
    }
}
