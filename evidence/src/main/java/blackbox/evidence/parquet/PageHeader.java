package blackbox.evidence.parquet;

import org.jspecify.annotations.Nullable;

/// A page's header (Parquet format, `PageHeader`). `layout` is set only for data pages of version 2: pages of
/// version 1 have their levels inside the compressed part, each with its own length.
record PageHeader(
        int type,
        int uncompressedBytes,
        int compressedBytes,
        int values,
        int encoding,
        @Nullable Layout layout) {

    static final int DATA = 0;
    static final int DICTIONARY = 2;
    static final int DATA_V2 = 3;
    private static final int PAGE_BYTES_MAX = 128 << 20;

    /// Where the levels of a version 2 page are, in octets from its start: repetition first, then definition,
    /// neither compressed.
    record Layout(int rows, int definitionBytes, int repetitionBytes, boolean compressed) {

        int levelBytes() {
            return definitionBytes + repetitionBytes;
        }
    }

    PageHeader {
        if (uncompressedBytes < 0 || uncompressedBytes > PAGE_BYTES_MAX || compressedBytes < 0 || values < 0) {
            throw new IllegalArgumentException("a page's sizes are out of range");
        }
        if (type == DATA_V2 && (layout == null || !fits(layout, uncompressedBytes, compressedBytes))) {
            throw new IllegalArgumentException("a page's level sizes are out of range");
        }
    }

    private static boolean fits(Layout layout, int uncompressed, int compressed) {
        long levels = (long) layout.definitionBytes + layout.repetitionBytes;
        return layout.definitionBytes >= 0
                && layout.repetitionBytes >= 0
                && levels <= Math.min(uncompressed, compressed);
    }

    static PageHeader parse(CompactThrift in) {
        int type = -1;
        int uncompressed = -1;
        int compressed = -1;
        var data = new DataFields();
        for (int id = in.field(0); id != CompactThrift.STOP; id = in.field(id)) {
            switch (id) {
                case 1 -> type = in.int32();
                case 2 -> uncompressed = in.int32();
                case 3 -> compressed = in.int32();
                case 5, 7 -> data.parseV1(in);
                case 8 -> data.parseV2(in);
                default -> in.skip();
            }
        }
        return new PageHeader(type, uncompressed, compressed, data.values, data.encoding, data.layout);
    }

    private static final class DataFields {
        private int values = -1;
        private int encoding = -1;
        private @Nullable Layout layout;

        /// `DataPageHeader` and `DictionaryPageHeader` start alike: values, encoding.
        void parseV1(CompactThrift in) {
            in.struct();
            for (int id = in.field(0); id != CompactThrift.STOP; id = in.field(id)) {
                switch (id) {
                    case 1 -> values = in.int32();
                    case 2 -> encoding = in.int32();
                    default -> in.skip();
                }
            }
        }

        void parseV2(CompactThrift in) {
            in.struct();
            int rows = -1;
            int definitionBytes = -1;
            int repetitionBytes = -1;
            boolean compressed = true;
            for (int id = in.field(0); id != CompactThrift.STOP; id = in.field(id)) {
                switch (id) {
                    case 1 -> values = in.int32();
                    case 3 -> rows = in.int32();
                    case 4 -> encoding = in.int32();
                    case 5 -> definitionBytes = in.int32();
                    case 6 -> repetitionBytes = in.int32();
                    case 7 -> compressed = in.bool();
                    default -> in.skip();
                }
            }
            layout = new Layout(rows, definitionBytes, repetitionBytes, compressed);
        }
    }
}
