/// Transparency logs, a run's and the log of runs: RFC 6962 trees, proofs and tiles, C2SP signed notes, checkpoints,
/// cosignatures and trust policies. The formats are specified in `schemas/log.md`.
///
/// Pure computation; hashing uses the JDK's provider because it is the fastest, signatures come from
/// `blackbox.evidence.sign`. Nothing here reads a clock, a key file or a socket.
@NullMarked
package blackbox.evidence.log;

import org.jspecify.annotations.NullMarked;
