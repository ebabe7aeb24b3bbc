/// Answers questions about recordings: which runs there are, what they did and touched.
///
/// Reads what ingest committed (sealed Parquet files) and what the recorder has in its spool, through
/// `blackbox.evidence`; writes nothing. DuckDB comes in through `blackbox.query.sql`.
@NullMarked
package blackbox.query;

import org.jspecify.annotations.NullMarked;
