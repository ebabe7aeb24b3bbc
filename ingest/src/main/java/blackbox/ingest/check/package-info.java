/// Decides about each batch that arrives: accepted, already known, or refused; and stores what is refused.
///
/// Pure computation but for [Quarantine], which writes files, and [RunStates], a port. Knows nothing of
/// Kafka, Parquet or Iceberg. Owned by the consumer's thread; the [ChainState] values that it passes on are
/// immutable.
@NullMarked
package blackbox.ingest.check;

import org.jspecify.annotations.NullMarked;
