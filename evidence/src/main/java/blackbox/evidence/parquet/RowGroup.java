package blackbox.evidence.parquet;

import java.util.List;

/// A row group: one chunk per leaf column, in the schema's order.
record RowGroup(long rows, List<ColumnChunk> chunks) {

    RowGroup {
        chunks = List.copyOf(chunks);
        if (rows < 0 || rows > ParquetFooter.ROWS_MAX) {
            throw new IllegalArgumentException("a row group's row count is out of range");
        }
    }
}
