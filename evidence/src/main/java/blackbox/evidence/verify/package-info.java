/// The verifier: computes a run's leaves again from the columns that answer queries, and compares the tree over
/// them with every checkpoint; checks seals, spool, order and counts.
///
/// Pure over files and public keys: no catalog, no broker, no network, no query engine. Fails closed: what
/// cannot be read or does not match is a finding, and a finding about evidence makes the run TAMPERED.
/// Bounded memory, whatever the size.
@NullMarked
package blackbox.evidence.verify;

import org.jspecify.annotations.NullMarked;
