/// Kafka: the broker in this process, the topic, and the consumer of batches. The only package of ingest that imports
/// Kafka.
///
/// Offsets are the table's, not the consumer group's: a consumer starts where the last commit says.
@NullMarked
package blackbox.ingest.kafka;

import org.jspecify.annotations.NullMarked;
