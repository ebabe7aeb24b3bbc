/// What is said between a log and a witness (C2SP tlog-witness), and what a witness decides.
///
/// Pure: the witness's record, its key and the clock are its keeper's (`blackbox.recorder.witness`).
@NullMarked
package blackbox.evidence.witness;

import org.jspecify.annotations.NullMarked;
