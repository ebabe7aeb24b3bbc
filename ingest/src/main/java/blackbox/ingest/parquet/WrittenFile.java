package blackbox.ingest.parquet;

import blackbox.schemas.Hash;
import java.util.List;

/// A finished data file: what its seal and the table's metadata say about it.
public record WrittenFile(
        long firstIndex,
        long endIndex,
        long sizeBytes,
        Hash sha256,
        List<Long> rowGroupOffsets,
        List<ColumnSize> columns) {

    /// One column's share: octets on disk, entries, and entries without a value.
    public record ColumnSize(int fieldId, long bytes, long values, long nulls) {}

    public WrittenFile {
        rowGroupOffsets = List.copyOf(rowGroupOffsets);
        columns = List.copyOf(columns);
    }

    public long rows() {
        return endIndex - firstIndex;
    }
}
