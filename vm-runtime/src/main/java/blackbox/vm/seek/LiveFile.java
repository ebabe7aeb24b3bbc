package blackbox.vm.seek;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.BitSet;

/// RAM or a disk of a machine, beside its initial content. Both are mapped once for all that is saved of the
/// machine: mapping RAM anew and faulting it in takes longer than comparing it. One thread.
public final class LiveFile implements AutoCloseable {
    private final Path file;
    private final Arena arena;
    private final MemorySegment base;
    private final MemorySegment now;
    private final BitSet dataAtFirst;

    private LiveFile(Path file, Arena arena, MemorySegment base, MemorySegment now, BitSet dataAtFirst) {
        this.file = file;
        this.arena = arena;
        this.base = base;
        this.now = now;
        this.dataAtFirst = dataAtFirst;
    }

    /// Opens it.
    ///
    /// @param base its initial content, of the same length
    public static LiveFile open(Path base, Path file) throws VmException {
        BitSet dataAtFirst = DataExtents.pages(base, PageStore.PAGE_BYTES);
        Arena arena = Arena.ofShared(); // a program that ends closes it from another thread
        try {
            MemorySegment old = map(base, arena);
            MemorySegment now = map(file, arena);
            if (old.byteSize() != now.byteSize() || now.byteSize() % PageStore.PAGE_BYTES != 0) {
                throw new IOException("it does not have the length of " + base);
            }
            return new LiveFile(file, arena, old, now, dataAtFirst);
        } catch (IOException e) {
            arena.close();
            throw new VmException(Code.IO, "the pages of " + file + " could not be read: " + e.getMessage(), e);
        }
    }

    private static MemorySegment map(Path file, Arena arena) throws IOException {
        try (var channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return channel.map(MapMode.READ_ONLY, 0, channel.size(), arena);
        }
    }

    Path file() {
        return file;
    }

    /// The numbers of the pages that differ from the initial content now.
    BitSet changed() throws VmException {
        BitSet pages = DataExtents.pages(file, PageStore.PAGE_BYTES);
        pages.or(dataAtFirst);
        for (int page = pages.nextSetBit(0); page >= 0; page = pages.nextSetBit(page + 1)) {
            if (PageStore.same(base, page, now, page)) {
                pages.clear(page);
            }
        }
        return pages;
    }

    /// A page as it is now.
    MemorySegment page(int number) {
        return now.asSlice((long) number * PageStore.PAGE_BYTES, PageStore.PAGE_BYTES);
    }

    @Override
    public void close() {
        arena.close();
    }
}
