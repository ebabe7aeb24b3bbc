/// A Kafka broker inside this process, for machines that have none. The only package that imports Kafka's
/// server.
///
/// One node, KRaft, loopback only, its log below the data folder. What it acknowledges is on the disk. Knows
/// nothing of batches or tables.
@NullMarked
package blackbox.ingest.broker;

import org.jspecify.annotations.NullMarked;
