/// Writes events into Parquet files, a column at a time. The only package that imports Parquet.
///
/// A [RowGroup] gathers rows as columns; an [EventFile] encodes row groups: version 2 pages, dictionaries where
/// they pay, delta encodings elsewhere, zstd. Works without Hadoop. Owned by the table's writer thread; knows
/// nothing of Iceberg.
@NullMarked
package blackbox.ingest.parquet;

import org.jspecify.annotations.NullMarked;
