/// Answers questions about recordings: which runs there are, what they did and touched, whether the evidence
/// holds.
///
/// Reads what ingest committed (sealed Parquet files) and what the recorder has in its spool; writes nothing.
/// Depends on `schemas` alone. DuckDB comes in through `blackbox.query.sql`, Parquet through
/// `blackbox.query.parquet`; the verifier (`blackbox.query.verify`) needs neither engine nor catalog nor
/// network.
@NullMarked
package blackbox.query;

import org.jspecify.annotations.NullMarked;
