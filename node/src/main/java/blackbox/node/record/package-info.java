/// A recording session: wires a VM, the tracer's stream, the host's own view, the sealer, the spool, Kafka
/// and ingest together for one run.
///
/// It decides the order of things: the run's first leaf is sealed before the agent's first instruction, and nothing
/// is reported as recorded that is not durable.
@NullMarked
package blackbox.node.record;

import org.jspecify.annotations.NullMarked;
