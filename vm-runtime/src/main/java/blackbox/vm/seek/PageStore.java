package blackbox.vm.seek;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.BitSet;
import java.util.zip.CRC32C;

/// One file with pages of RAM and disks of machines that were saved one after the other. Pages that a machine
/// shares with the one before it are stored once, so that many machines cost only what changes between them.
///
/// The file is pages of 4,096 octets, appended to and never changed. Owned by one thread, and only one
/// process may append.
public final class PageStore implements AutoCloseable {
    /// Octets of a page.
    public static final int PAGE_BYTES = 4096;

    private static final int BUFFER_BYTES = 256 * PAGE_BYTES;

    private final FileChannel pages;

    private PageStore(FileChannel pages) {
        this.pages = pages;
    }

    /// Opens a store for appending; it is created if there is none.
    public static PageStore open(Path file) throws VmException {
        return open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    /// Opens a store that another process may append to.
    public static PageStore read(Path file) throws VmException {
        return open(file, StandardOpenOption.READ);
    }

    private static PageStore open(Path file, StandardOpenOption... options) throws VmException {
        try {
            return new PageStore(FileChannel.open(file, options));
        } catch (IOException e) {
            throw new VmException(Code.IO, "the page store " + file + " cannot be opened", e);
        }
    }

    /// Octets in the store.
    public long bytes() throws VmException {
        try {
            return pages.size();
        } catch (IOException e) {
            throw new VmException(Code.IO, "the size of the page store cannot be read", e);
        }
    }

    /// Stores the current content of a file, durably.
    ///
    /// @param before the table of the machine that was saved last
    public PageTable keep(LiveFile file, PageTable before) throws VmException {
        try (var arena = Arena.ofConfined()) {
            BitSet changed = file.changed();
            MemorySegment stored = pages.map(MapMode.READ_ONLY, 0, pages.size(), arena);
            var writer = new Writer(stored, before);
            for (int page = changed.nextSetBit(0); page >= 0; page = changed.nextSetBit(page + 1)) {
                writer.add(file.page(page), page);
            }
            return writer.finish();
        } catch (InternalError e) {
            // How the JVM reports a mapped file that has become shorter: a QEMU that its guest has taken over can do
            // that.
            throw new VmException(Code.QEMU_FAILED, "the machine has shortened " + file.file(), e);
        } catch (IOException e) {
            throw new VmException(
                    Code.IO, "the pages of " + file.file() + " could not be stored: " + e.getMessage(), e);
        }
    }

    /// Restores the stored content of `file`, which is a copy of its initial content.
    ///
    /// @throws VmException `IO`, also when a page differs from what was stored
    public void apply(PageTable table, Path file) throws VmException {
        try (var arena = Arena.ofConfined();
                var out = FileChannel.open(file, StandardOpenOption.WRITE)) {
            MemorySegment stored = pages.map(MapMode.READ_ONLY, 0, pages.size(), arena);
            long count = stored.byteSize() / PAGE_BYTES;
            long length = out.size();
            var crc = new CRC32C();
            for (int i = 0; i < table.size(); i++) {
                long to = (long) table.numbers()[i] * PAGE_BYTES;
                if (table.places()[i] >= count || to + PAGE_BYTES > length) {
                    throw new IOException("page " + table.numbers()[i] + " is missing");
                }
                ByteBuffer page = stored.asSlice((long) table.places()[i] * PAGE_BYTES, PAGE_BYTES)
                        .asByteBuffer();
                crc.update(page.duplicate());
                while (page.hasRemaining()) {
                    out.write(page, to + page.position());
                }
            }
            if ((int) crc.getValue() != table.crc32c()) {
                throw new IOException("a page has changed since it was stored");
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, "stored pages could not be restored to " + file + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void close() throws VmException {
        try {
            pages.close();
        } catch (IOException e) {
            throw new VmException(Code.IO, "the page store could not be closed", e);
        }
    }

    static boolean same(MemorySegment a, long pageOfA, MemorySegment b, long pageOfB) {
        long atA = pageOfA * PAGE_BYTES;
        long atB = pageOfB * PAGE_BYTES;
        return MemorySegment.mismatch(a, atA, atA + PAGE_BYTES, b, atB, atB + PAGE_BYTES) < 0;
    }

    /// Makes one table; pages that the table before does not have are appended.
    private final class Writer {
        private final MemorySegment stored;
        private final PageTable before;
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
        private final CRC32C crc = new CRC32C();
        private int[] numbers = new int[1024];
        private int[] places = new int[1024];
        private int count;
        private int passed;
        private long end;

        Writer(MemorySegment stored, PageTable before) {
            this.stored = stored;
            this.before = before;
            // An incomplete last page was being written when its process ended; it is overwritten.
            end = stored.byteSize() / PAGE_BYTES;
        }

        void add(MemorySegment page, int number) throws IOException {
            if (count == numbers.length) {
                numbers = Arrays.copyOf(numbers, 2 * count);
                places = Arrays.copyOf(places, 2 * count);
            }
            crc.update(page.asByteBuffer());
            numbers[count] = number;
            int known = placeBefore(number);
            boolean unchanged = known >= 0 && same(stored, known, page, 0);
            places[count++] = unchanged ? known : append(page);
        }

        private int placeBefore(int number) {
            while (passed < before.size() && before.numbers()[passed] < number) {
                passed++;
            }
            return passed < before.size() && before.numbers()[passed] == number ? before.places()[passed] : -1;
        }

        private int append(MemorySegment page) throws IOException {
            int place = Math.toIntExact(end + buffer.position() / PAGE_BYTES);
            buffer.put(page.asByteBuffer());
            if (!buffer.hasRemaining()) {
                flush();
            }
            return place;
        }

        private void flush() throws IOException {
            buffer.flip();
            long at = end * PAGE_BYTES;
            end += buffer.limit() / PAGE_BYTES;
            while (buffer.hasRemaining()) {
                at += pages.write(buffer, at);
            }
            buffer.clear();
        }

        PageTable finish() throws IOException {
            flush();
            pages.force(false);
            return new PageTable(Arrays.copyOf(numbers, count), Arrays.copyOf(places, count), (int) crc.getValue());
        }
    }
}
