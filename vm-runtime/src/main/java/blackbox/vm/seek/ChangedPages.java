package blackbox.vm.seek;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// The pages of a machine's RAM that differ from those of the machine that it started as: what a run of some
/// seconds changes is some per cent of its RAM.
///
/// A file of them is the octets `BBXPAGE1`, then for each page its number, 64 bits, most significant octet
/// first, and its 4,096 octets; numbers rise.
public final class ChangedPages {
    private static final long MAGIC = 0x4242_5850_4147_4531L;
    private static final int PAGE_BYTES = 4096;
    private static final int BUFFER_BYTES = 1 << 18;

    private ChangedPages() {}

    /// Writes the pages of `ram` that are not as in `base`; returns how many. Both files have one length.
    public static long save(Path base, Path ram, Path target) throws VmException {
        try (var arena = Arena.ofConfined();
                var out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(target), BUFFER_BYTES))) {
            MemorySegment before = map(base, arena);
            MemorySegment after = map(ram, arena);
            if (before.byteSize() != after.byteSize() || before.byteSize() % PAGE_BYTES != 0) {
                throw new IOException(ram + " is not RAM like " + base);
            }
            out.writeLong(MAGIC);
            return differences(before, after, out);
        } catch (IOException e) {
            throw new VmException(Code.IO, "the changed pages of " + ram + " could not be kept: " + e.getMessage(), e);
        }
    }

    /// Puts the pages into `ram`, a copy of what they were compared with.
    public static void apply(Path pages, Path ram) throws VmException {
        try (var in = new DataInputStream(new BufferedInputStream(Files.newInputStream(pages), BUFFER_BYTES));
                var out = FileChannel.open(ram, StandardOpenOption.WRITE)) {
            long left = Files.size(pages) - Long.BYTES;
            if (in.readLong() != MAGIC || left % (Long.BYTES + PAGE_BYTES) != 0) {
                throw new IOException("it is not a file of pages, or not whole");
            }
            byte[] page = new byte[PAGE_BYTES];
            for (; left > 0; left -= Long.BYTES + PAGE_BYTES) {
                long number = in.readLong();
                in.readFully(page);
                put(out, number, page);
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, pages + " could not be put into " + ram + ": " + e.getMessage(), e);
        }
    }

    private static MemorySegment map(Path file, Arena arena) throws IOException {
        try (var channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return channel.map(MapMode.READ_ONLY, 0, channel.size(), arena);
        }
    }

    private static long differences(MemorySegment before, MemorySegment after, DataOutputStream out)
            throws IOException {
        long count = 0;
        byte[] page = new byte[PAGE_BYTES];
        for (long at = 0; at < after.byteSize(); at += PAGE_BYTES) {
            if (MemorySegment.mismatch(before, at, at + PAGE_BYTES, after, at, at + PAGE_BYTES) < 0) {
                continue;
            }
            MemorySegment.copy(after, ValueLayout.JAVA_BYTE, at, page, 0, PAGE_BYTES);
            out.writeLong(at / PAGE_BYTES);
            out.write(page);
            count++;
        }
        return count;
    }

    private static void put(FileChannel ram, long number, byte[] page) throws IOException {
        if (number < 0 || number >= ram.size() / PAGE_BYTES) {
            throw new IOException("page " + number + " is not in RAM");
        }
        ByteBuffer octets = ByteBuffer.wrap(page);
        while (octets.hasRemaining()) {
            ram.write(octets, number * PAGE_BYTES + octets.position());
        }
    }
}
