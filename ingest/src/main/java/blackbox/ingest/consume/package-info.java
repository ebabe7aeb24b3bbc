/// Reads the topic of sealed batches. The only package of ingest that imports Kafka's clients.
///
/// Where to start comes from the table, never from the broker, so a batch's rows and the step past it are one
/// commit.
@NullMarked
package blackbox.ingest.consume;

import org.jspecify.annotations.NullMarked;
