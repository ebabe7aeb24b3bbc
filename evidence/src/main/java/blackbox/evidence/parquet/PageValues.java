package blackbox.evidence.parquet;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The non-null values in one page of one column, decoded at once: numbers, or slices of octets.
///
/// With `symbols`, a text column with few known values (a kind, a source, the run) is decoded to their
/// numbers; any other value is malformed.
final class PageValues {

    private static final VarHandle INT32 = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT64 = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int PLAIN = 0;
    private static final int PLAIN_DICTIONARY = 2;
    private static final int DELTA_BINARY_PACKED = 5;
    private static final int DELTA_LENGTH_BYTE_ARRAY = 6;
    static final int DELTA_BYTE_ARRAY = 7;
    private static final int RLE_DICTIONARY = 8;
    private static final int DICTIONARY_VALUES_MAX = 1 << 24;

    private final PhysicalType type;
    private final @Nullable Map<String, Long> symbols;

    private long[] numbers = new long[0];
    private byte[] octets = new byte[0];
    private int[] offsets = new int[0];
    private int[] lengths = new int[0];
    private int[] indexes = new int[0];
    private @Nullable PageValues dictionary;
    private boolean hasDictionary;
    private ChunkStatistics statistics = ChunkStatistics.NONE;
    private int count;
    private int next;

    PageValues(PhysicalType type, @Nullable Map<String, Long> symbols) {
        this.type = type;
        this.symbols = symbols;
    }

    /// Moves past the next `many` values and returns the position of the first of them, in [#numbers] or in
    /// [#offsets] and [#lengths]. Those arrays are valid until the next page.
    int take(int many) {
        if (many > count - next) {
            throw new IllegalArgumentException("a page has fewer values than its levels say");
        }
        next += many;
        return next - many;
    }

    long[] numbers() {
        return numbers;
    }

    /// The array that the slices refer to.
    byte[] octets() {
        return octets;
    }

    int[] offsets() {
        return offsets;
    }

    int[] lengths() {
        return lengths;
    }

    boolean exhausted() {
        return next == count;
    }

    /// Reads a dictionary page, which pages of the same chunk then refer to. Writers make entries only for
    /// values that occur, so each entry must be within the statistics, and the values that refer to them need
    /// no check.
    void readDictionary(byte[] page, int from, int end, int encoding, int values) {
        if (encoding != PLAIN && encoding != PLAIN_DICTIONARY || values > DICTIONARY_VALUES_MAX) {
            throw new IllegalArgumentException("a dictionary page's encoding or size is not one that we write");
        }
        PageValues words = dictionary == null ? new PageValues(type, symbols) : dictionary;
        words.statistics = statistics;
        words.read(page, from, end, PLAIN, values);
        dictionary = words;
        hasDictionary = true;
    }

    /// Starts on a chunk with the statistics `said`.
    void begin(ChunkStatistics said) {
        statistics = said;
        hasDictionary = false;
    }

    /// Decodes `values` values from `[from, end)` of a page, which is kept until the next call.
    void read(byte[] page, int from, int end, int encoding, int values) {
        count = values;
        next = 0;
        boolean decoded = switch (encoding) {
            case PLAIN_DICTIONARY, RLE_DICTIONARY -> readIndexes(page, from, end);
            case PLAIN -> readPlain(page, from, end);
            case DELTA_BINARY_PACKED -> readDeltas(page, from, end);
            case DELTA_LENGTH_BYTE_ARRAY -> readDeltaLengths(page, from, end);
            case DELTA_BYTE_ARRAY -> readDeltaOctets(page, from, end);
            default -> false;
        };
        if (!decoded) {
            throw new IllegalArgumentException("encoding " + encoding + " is not one that we write for " + type);
        }
        if (encoding != PLAIN_DICTIONARY && encoding != RLE_DICTIONARY) {
            requireStatistics();
        }
    }

    private void requireStatistics() {
        switch (type) {
            case INT32, INT64 -> statistics.requireWithin(type, numbers, count);
            case BYTE_ARRAY -> statistics.requireWithin(octets, offsets, lengths, count);
        }
    }

    private boolean readPlain(byte[] page, int from, int end) {
        switch (type) {
            case INT32, INT64 -> readPlainNumbers(page, from, end);
            case BYTE_ARRAY -> readPlainOctets(page, from, end);
        }
        return true;
    }

    private void readPlainNumbers(byte[] page, int from, int end) {
        int width = type == PhysicalType.INT32 ? 4 : 8;
        if ((long) count * width != end - from) {
            throw new IllegalArgumentException("a page's values do not fill it");
        }
        numbers = room(numbers, count);
        for (int i = 0, at = from; i < count; i++, at += width) {
            numbers[i] = width == 4 ? (int) INT32.get(page, at) : (long) INT64.get(page, at);
        }
    }

    private void readPlainOctets(byte[] page, int from, int end) {
        slices(page);
        int at = from;
        for (int i = 0; i < count; i++) {
            if (end - at < 4) {
                throw new IndexOutOfBoundsException("a value goes beyond the page");
            }
            int length = (int) INT32.get(page, at);
            at += 4;
            if (length < 0 || length > end - at) {
                throw new IndexOutOfBoundsException("a value goes beyond the page");
            }
            offsets[i] = at;
            lengths[i] = length;
            at += length;
        }
        requireEnd(at, end);
        resolveSymbols();
    }

    private boolean readIndexes(byte[] page, int from, int end) {
        PageValues words = dictionary;
        if (words == null || !hasDictionary) {
            throw new IllegalArgumentException("a page refers to a dictionary that does not exist");
        }
        if (count == 0) {
            return true;
        }
        indexes = indexes.length >= count ? indexes : new int[count];
        HybridRuns.decode(page, from + 1, end, page[from] & 0xff, indexes, count);
        for (int i = 0; i < count; i++) {
            if (indexes[i] >= words.count) {
                throw new IllegalArgumentException("a value is not in the dictionary");
            }
        }
        if (type == PhysicalType.BYTE_ARRAY && symbols == null) {
            slices(words.octets);
            for (int i = 0; i < count; i++) {
                offsets[i] = words.offsets[indexes[i]];
                lengths[i] = words.lengths[indexes[i]];
            }
        } else {
            numbers = room(numbers, count);
            for (int i = 0; i < count; i++) {
                numbers[i] = words.numbers[indexes[i]];
            }
        }
        return true;
    }

    private boolean readDeltas(byte[] page, int from, int end) {
        if (type == PhysicalType.BYTE_ARRAY) {
            return false;
        }
        numbers = room(numbers, count);
        var deltas = new DeltaNumbers(page, from, end);
        deltas.decode(numbers, count);
        requireEnd(deltas.position(), end);
        if (type == PhysicalType.INT32) {
            for (int i = 0; i < count; i++) {
                numbers[i] = (int) numbers[i];
            }
        }
        return true;
    }

    private boolean readDeltaLengths(byte[] page, int from, int end) {
        if (type != PhysicalType.BYTE_ARRAY) {
            return false;
        }
        slices(page);
        var sizes = new long[count];
        var deltas = new DeltaNumbers(page, from, end);
        deltas.decode(sizes, count);
        int at = deltas.position();
        for (int i = 0; i < count; i++) {
            if (sizes[i] < 0 || sizes[i] > end - at) {
                throw new IndexOutOfBoundsException("a value goes beyond the page");
            }
            offsets[i] = at;
            lengths[i] = (int) sizes[i];
            at += lengths[i];
        }
        requireEnd(at, end);
        resolveSymbols();
        return true;
    }

    private boolean readDeltaOctets(byte[] page, int from, int end) {
        if (type != PhysicalType.BYTE_ARRAY) {
            return false;
        }
        var prefixes = new long[count];
        var deltas = new DeltaNumbers(page, from, end);
        deltas.decode(prefixes, count);
        var suffixes = new PageValues(type, null);
        suffixes.read(page, deltas.position(), end, DELTA_LENGTH_BYTE_ARRAY, count);
        long size = 0;
        for (int i = 0; i < count; i++) {
            size += prefixes[i] + suffixes.lengths[i];
            if (prefixes[i] < 0 || size > DICTIONARY_VALUES_MAX * 16L) {
                throw new IllegalArgumentException("a page's values are too long");
            }
        }
        slices(new byte[(int) size]);
        int at = 0;
        for (int i = 0; i < count; i++) {
            int prefix = (int) prefixes[i];
            if (prefix > (i == 0 ? 0 : lengths[i - 1])) {
                throw new IllegalArgumentException("a value's prefix is longer than the value before");
            }
            offsets[i] = at;
            lengths[i] = prefix + suffixes.lengths[i];
            System.arraycopy(octets, i == 0 ? 0 : offsets[i - 1], octets, at, prefix);
            System.arraycopy(page, suffixes.offsets[i], octets, at + prefix, suffixes.lengths[i]);
            at += lengths[i];
        }
        resolveSymbols();
        return true;
    }

    private void slices(byte[] source) {
        octets = source;
        if (offsets.length < count) {
            offsets = new int[count];
            lengths = new int[count];
        }
    }

    private void resolveSymbols() {
        if (symbols == null) {
            return;
        }
        numbers = room(numbers, count);
        for (int i = 0; i < count; i++) {
            Long number = symbols.get(new String(octets, offsets[i], lengths[i], StandardCharsets.UTF_8));
            if (number == null) {
                throw new IllegalArgumentException("a value is not one of " + symbols.keySet());
            }
            numbers[i] = number;
        }
    }

    private static long[] room(long[] array, int count) {
        return array.length >= count ? array : Arrays.copyOf(array, Math.max(count, 1024));
    }

    private static void requireEnd(int at, int end) {
        if (at != end) {
            throw new IllegalArgumentException("a page's values do not fill it");
        }
    }
}
