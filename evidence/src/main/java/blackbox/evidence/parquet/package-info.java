/// A strict reader for the Parquet files that hold the evidence: flat nullable columns and lists of text,
/// nothing else.
///
/// Reads the file's own octets (Apache Parquet format 2.11: footer, pages v1 and v2, zstd) into reusable
/// rows, column by column, so that a verifier needs neither a query engine nor a catalog. Whatever deviates
/// is a [MalformedParquetException]; sizes are checked before memory is allocated. The only package
/// of this module that imports zstd-jni.
@NullMarked
package blackbox.evidence.parquet;

import org.jspecify.annotations.NullMarked;
