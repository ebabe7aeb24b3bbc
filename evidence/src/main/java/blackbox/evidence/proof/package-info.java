/// Proofs of single events: makes them from a recording and the log of runs, and checks them from their
/// octets and public keys alone. The format is specified in `schemas/proof.md`.
///
/// May use the stores and the Parquet reader; no query engine, no data binding, so that the verifier stays
/// small. Every proof is checked against a signed checkpoint before it is returned.
@NullMarked
package blackbox.evidence.proof;

import org.jspecify.annotations.NullMarked;
