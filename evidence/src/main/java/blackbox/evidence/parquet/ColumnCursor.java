package blackbox.evidence.parquet;

import blackbox.schemas.row.ListEncoder;
import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Walks one column of a row group, page by page: which rows have a value, and the values.
///
/// The caller works in spans that never cross a page of any column ([#rowsLeftInPage]). Owned by one thread.
final class ColumnCursor {

    private static final VarHandle INT32 = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    /// What the arrays for one value of a page take: numbers or slices, indexes; in a list two levels, too.
    private static final long VALUE_BYTES = 24;

    private static final long LIST_VALUE_BYTES = 32;

    private final LeafColumn column;
    private final PageValues values;
    private ReadMemory memory = new ReadMemory();
    private long chunkHeld;
    private long wordsHeld;
    private long pageHeld;
    private long expandedHeld;
    private byte[] chunk = new byte[0];
    private int chunkEnd;
    private int codec;
    private int at;
    private long levelsLeft;
    private long nulls;
    private ChunkStatistics statistics = ChunkStatistics.NONE;
    private PageEncodings encodings = PageEncodings.NONE;
    private final List<PageEncodings.Page> pages = new ArrayList<>();

    private byte[] inflated = new byte[0];
    private byte[] words = new byte[0];
    private byte[] page = new byte[0];
    private int valuesFrom;
    private int valuesEnd;

    private int levels;
    private int rowsInPage;
    private int rowAt;
    private long[] present = new long[0];
    private int[] definitions = new int[0];
    private int[] repetitions = new int[0];
    private int levelAt;
    private int markAt;

    ColumnCursor(LeafColumn column, @Nullable Map<String, Long> symbols) {
        this.column = column;
        this.values = new PageValues(column.type(), symbols);
    }

    /// Starts on a chunk, whose octets are kept until the next one, in the same array if they fit.
    void open(ColumnChunk start, ParquetFile file) throws IOException {
        memory = file.memory();
        chunkEnd = (int) start.length();
        chunkHeld = hold(chunkHeld, chunkEnd);
        if (chunk.length < chunkEnd) {
            chunk = new byte[chunkEnd + chunkEnd / 4];
        }
        file.read(start, chunk);
        codec = start.codec();
        at = 0;
        levelsLeft = start.values();
        levels = 0;
        rowsInPage = 0;
        rowAt = 0;
        levelAt = 0;
        markAt = 0;
        nulls = 0;
        statistics = start.statistics();
        encodings = start.encodings();
        pages.clear();
        values.begin(statistics);
    }

    /// Accounts for what is about to be held where `held` octets were so far; returns what is held then.
    private long hold(long held, long needed) {
        if (needed <= held) {
            return held;
        }
        memory.add(needed - held);
        return needed;
    }

    /// How many rows the current page still has; moves to the next page if there are none.
    int rowsLeftInPage() {
        while (rowAt == rowsInPage) {
            if (levelsLeft == 0) {
                throw new IllegalArgumentException("column " + column.name() + " has fewer rows than the row group");
            }
            requirePageDone();
            loadPage();
        }
        return rowsInPage - rowAt;
    }

    /// Checks that everything in the chunk was used, and that it has as many nulls as its statistics say.
    void finish() {
        requirePageDone();
        if (levelsLeft != 0 || rowAt != rowsInPage || at != chunkEnd) {
            throw new IllegalArgumentException("column " + column.name() + " holds more than the row group's rows");
        }
        statistics.requireNulls(nulls);
        encodings.requireTrue(pages);
    }

    private void requirePageDone() {
        if (levels > 0 && !values.exhausted()) {
            throw new IllegalArgumentException("column " + column.name() + " has more values than its levels say");
        }
    }

    /// Sets `bit` in `masks[i]` for each of the next `rows` rows that has a value, and moves past those rows.
    ///
    /// @return how many of them have one
    int markPresent(long[] masks, int rows, long bit) {
        int there = 0;
        if (column.isList()) {
            markLists(masks, rows, bit);
        } else {
            there = markFlat(masks, rows, bit);
        }
        rowAt += rows;
        return there;
    }

    private int markFlat(long[] masks, int rows, long bit) {
        int end = rowAt + rows;
        int there = 0;
        for (int word = rowAt >>> 6; word <= (end - 1) >>> 6; word++) {
            long left = present[word];
            int base = word << 6;
            if (base < rowAt) {
                left &= -1L << rowAt;
            }
            if (base + 64 > end) {
                left &= -1L >>> 64 - (end & 63);
            }
            there += Long.bitCount(left);
            if (left == -1L) {
                for (int i = base - rowAt; i < base - rowAt + 64; i++) {
                    masks[i] |= bit;
                }
                continue;
            }
            for (; left != 0; left &= left - 1) {
                masks[base + Long.numberOfTrailingZeros(left) - rowAt] |= bit;
            }
        }
        return there;
    }

    private void markLists(long[] masks, int rows, long bit) {
        int level = markAt;
        for (int i = 0; i < rows; i++) {
            if (definitions[level] > 0 || column.definitionMax() == 1) {
                masks[i] |= bit;
            }
            for (level++; level < levels && repetitions[level] != 0; level++) {}
        }
        markAt = level;
    }

    /// The values of the current page.
    PageValues values() {
        return values;
    }

    /// Reads the next non-null list into `target`.
    void nextList(ListEncoder target) {
        while (column.definitionMax() > 1 && definitions[levelAt] == 0) {
            levelAt++;
        }
        int end = levelAt + 1;
        while (end < levels && repetitions[end] != 0) {
            end++;
        }
        int empty = column.definitionMax() == 3 ? 1 : column.definitionMax() - 1;
        boolean isEmpty = end == levelAt + 1 && definitions[levelAt] == empty;
        target.start(isEmpty ? 0 : end - levelAt);
        for (; levelAt < end; levelAt++) {
            if (definitions[levelAt] == column.definitionMax()) {
                int i = values.take(1);
                target.add(values.octets(), values.offsets()[i], values.lengths()[i]);
            } else if (!isEmpty) {
                throw new IllegalArgumentException("column " + column.name() + " has a null inside a list");
            }
        }
    }

    private void loadPage() {
        var in = new CompactThrift(chunk, at, chunkEnd);
        PageHeader header = PageHeader.parse(in);
        int start = in.position();
        if (header.compressedBytes() > chunkEnd - start) {
            throw new IndexOutOfBoundsException("a page goes beyond its column chunk");
        }
        at = start + header.compressedBytes();
        pages.add(PageEncodings.Page.of(header.type(), header.encoding()));
        switch (header.type()) {
            case PageHeader.DICTIONARY -> {
                int size = header.uncompressedBytes();
                wordsHeld = hold(wordsHeld, size + header.values() * VALUE_BYTES);
                words = words.length < size ? new byte[size] : words;
                inflate(start, at, words, 0, size);
                values.readDictionary(words, 0, size, header.encoding(), header.values());
            }
            case PageHeader.DATA -> loadV1(header, start);
            case PageHeader.DATA_V2 -> loadV2(header, start);
            default -> throw new IllegalArgumentException("page type " + header.type() + " is not one that we write");
        }
    }

    private void loadV1(PageHeader header, int start) {
        begin(header);
        inflate(start, at, page, 0, header.uncompressedBytes());
        int from = 0;
        if (column.repetitionMax() > 0) {
            from = levelsV1(from, repetitions, column.repetitionMax());
        }
        int there = levels;
        if (column.definitionMax() > 0) {
            int length = levelLengthV1(from);
            there = readDefinitions(page, from + 4, from + 4 + length);
            from += 4 + length;
        } else {
            HybridRuns.fill(present, levels);
        }
        startRows();
        valuesFrom = from;
        nulls += levels - there;
        readValues(valuesFrom, valuesEnd, header, there);
    }

    /// Values that share their beginnings are longer than the page that they are in.
    private void readValues(int from, int end, PageHeader header, int there) {
        values.read(page, from, end, header.encoding(), there);
        if (header.encoding() == PageValues.DELTA_BYTE_ARRAY) {
            expandedHeld = hold(expandedHeld, values.octets().length);
        }
    }

    private int levelsV1(int from, int[] target, int max) {
        int length = levelLengthV1(from);
        HybridRuns.decode(page, from + 4, from + 4 + length, HybridRuns.width(max), target, levels);
        return from + 4 + length;
    }

    private int levelLengthV1(int from) {
        int length = from + 4 > valuesEnd ? -1 : (int) INT32.get(page, from);
        if (length < 0 || length > valuesEnd - from - 4) {
            throw new IndexOutOfBoundsException("a page's levels go beyond its end");
        }
        return length;
    }

    private void loadV2(PageHeader header, int start) {
        begin(header);
        PageHeader.Layout layout = header.layout();
        if (layout == null) {
            throw new IllegalArgumentException("a version 2 page has no version 2 header");
        }
        if (column.repetitionMax() > 0) {
            int end = start + layout.repetitionBytes();
            HybridRuns.decode(chunk, start, end, HybridRuns.width(column.repetitionMax()), repetitions, levels);
        }
        int definitionsFrom = start + layout.repetitionBytes();
        int there = levels;
        if (column.definitionMax() > 0) {
            there = readDefinitions(chunk, definitionsFrom, definitionsFrom + layout.definitionBytes());
        } else {
            HybridRuns.fill(present, levels);
        }
        startRows();
        if (layout.rows() != rowsInPage) {
            throw new IllegalArgumentException("a page's row count does not fit its levels");
        }
        int bodyFrom = start + layout.levelBytes();
        int size = header.uncompressedBytes() - layout.levelBytes();
        valuesFrom = 0;
        valuesEnd = size;
        if (layout.compressed()) {
            inflate(bodyFrom, at, page, 0, size);
        } else {
            copy(bodyFrom, at, page, size);
        }
        nulls += levels - there;
        readValues(0, size, header, there);
    }

    private void begin(PageHeader header) {
        levels = header.values();
        if (levels > levelsLeft) {
            throw new IllegalArgumentException("a page has more values than its column chunk");
        }
        levelsLeft -= levels;
        long each = column.isList() ? LIST_VALUE_BYTES : VALUE_BYTES;
        pageHeld = hold(pageHeld, header.uncompressedBytes() + levels * each);
        if (inflated.length < header.uncompressedBytes()) {
            inflated = new byte[header.uncompressedBytes()];
        }
        page = inflated;
        valuesEnd = header.uncompressedBytes();
        rowAt = 0;
        levelAt = 0;
        markAt = 0;
        if (column.isList()) {
            definitions = definitions.length >= levels ? definitions : new int[levels];
            repetitions = repetitions.length >= levels ? repetitions : new int[levels];
        } else if (present.length << 6 < levels) {
            present = new long[(levels + 63) >>> 6];
        }
    }

    /// Returns how many values are not null.
    private int readDefinitions(byte[] array, int from, int end) {
        if (!column.isList()) {
            return HybridRuns.decodeBits(array, from, end, present, levels);
        }
        HybridRuns.decode(array, from, end, HybridRuns.width(column.definitionMax()), definitions, levels);
        int there = 0;
        for (int i = 0; i < levels; i++) {
            if (definitions[i] > column.definitionMax()) {
                throw new IllegalArgumentException("a level is out of range");
            }
            there += definitions[i] == column.definitionMax() ? 1 : 0;
        }
        return there;
    }

    private void startRows() {
        rowsInPage = levels;
        if (column.isList()) {
            rowsInPage = 0;
            for (int i = 0; i < levels; i++) {
                rowsInPage += repetitions[i] == 0 ? 1 : 0;
            }
            if (levels > 0 && repetitions[0] != 0) {
                throw new IllegalArgumentException("a page of column " + column.name() + " starts inside a list");
            }
        }
    }

    private void inflate(int from, int end, byte[] target, int to, int size) {
        if (codec == ColumnChunk.UNCOMPRESSED) {
            copy(from, end, target, size);
            return;
        }
        if (size == 0 && from == end) {
            return;
        }
        try {
            long got = Zstd.decompressByteArray(target, to, size, chunk, from, end - from);
            if (Zstd.isError(got) || got != size) {
                throw new IllegalArgumentException("a page does not decompress to the size it states");
            }
        } catch (ZstdException e) {
            throw new IllegalArgumentException("a page does not decompress", e);
        }
    }

    private void copy(int from, int end, byte[] target, int size) {
        if (end - from != size) {
            throw new IllegalArgumentException("an uncompressed page's two sizes differ");
        }
        System.arraycopy(chunk, from, target, 0, size);
    }
}
