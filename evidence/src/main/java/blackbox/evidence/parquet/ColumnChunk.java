package blackbox.evidence.parquet;

/// Where a column's pages are in the file: `[offset, offset + length)`, compressed by `codec`, holding
/// `values` levels; and what is said of those values and of how they are encoded. `indexed`: whether there is a page
/// index for it, which is not read.
record ColumnChunk(
        int codec,
        long values,
        long offset,
        long length,
        ChunkStatistics statistics,
        PageEncodings encodings,
        boolean indexed) {

    static final int UNCOMPRESSED = 0;
    static final int ZSTD = 6;

    ColumnChunk {
        if (codec != UNCOMPRESSED && codec != ZSTD) {
            throw new IllegalArgumentException("codec " + codec + " is not one that we write");
        }
        if (values < 0 || offset < 4 || length < 0 || length > ParquetFooter.CHUNK_BYTES_MAX) {
            throw new IllegalArgumentException("a column chunk's size or place is out of range");
        }
    }

    ColumnChunk withIndex() {
        return new ColumnChunk(codec, values, offset, length, statistics, encodings, true);
    }
}
