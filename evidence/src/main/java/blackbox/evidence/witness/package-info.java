/// The protocol between a log and a witness (C2SP tlog-witness), and the witness's decisions.
///
/// Pure: the witness's record, its key and the clock are in `blackbox.recorder.witness`.
@NullMarked
package blackbox.evidence.witness;

import org.jspecify.annotations.NullMarked;
