/// Decides about each batch that arrives: believed, known already, or refused; and keeps what is refused.
///
/// Pure computation but for [Quarantine], which writes files. Knows nothing of Kafka, Parquet or Iceberg.
/// Owned by the consumer's thread; the [ChainState] values that it hands on are immutable.
@NullMarked
package blackbox.ingest.check;

import org.jspecify.annotations.NullMarked;
