/// Proofs of single events: makes them from a recording and the log of runs, and checks them from their
/// octets and public keys alone. The format is specified in `schemas/proof.md`.
///
/// May use the stores and the Parquet reader; no query engine, no data binding, so that the verifier stays
/// small. Nothing made here is given away before it was checked against a signed checkpoint.
@NullMarked
package blackbox.evidence.proof;

import org.jspecify.annotations.NullMarked;
