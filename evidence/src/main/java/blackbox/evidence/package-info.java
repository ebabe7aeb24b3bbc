/// What a recording proves, and to whom: the transparency log and its signed notes, public keys, time stamps
/// and witnesses; where recordings are stored and the strict reader of their files; verification, proofs,
/// bundles, attestations.
///
/// Depends on `schemas` and `files`, and the verifier on these three. No query engine, no catalog, no network: Bouncy
/// Castle is reached through `blackbox.evidence.time`, Parquet is read by `blackbox.evidence.parquet` itself.
@NullMarked
package blackbox.evidence;

import org.jspecify.annotations.NullMarked;
