/// Sends sealed batches to Kafka. The only package of the recorder that imports Kafka.
///
/// Durable before acknowledged: `acks=all`, idempotent, in order. A broker that is away is waited for, however
/// long; the spool on disk grows meanwhile, memory does not.
@NullMarked
package blackbox.recorder.publish;

import org.jspecify.annotations.NullMarked;
