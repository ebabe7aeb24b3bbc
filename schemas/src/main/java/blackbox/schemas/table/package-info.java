/// The table that recordings live in, described without any library: columns, field ids, file names, seals.
///
/// Ingest writes according to this description, evidence and query read according to it; they share nothing
/// else. Specified in `schemas/table.md`. Depends on rows, hashes and run ids of `blackbox.schemas`; never on
/// Iceberg, Parquet or a file system.
@NullMarked
package blackbox.schemas.table;

import org.jspecify.annotations.NullMarked;
