/// Sends sealed batches to Kafka. The only package of the recorder that imports Kafka.
///
/// Durable before acknowledged: `acks=all`, idempotent, in order. It waits for an unreachable broker, however
/// long; meanwhile the spool on disk grows, memory does not.
@NullMarked
package blackbox.recorder.publish;

import org.jspecify.annotations.NullMarked;
