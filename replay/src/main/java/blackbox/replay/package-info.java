/// Replay of a recorded run, and the verdict on it; this package has the one exception. `tier` is the
/// interface of a replay, `exact` and `rerun` are its two implementations, `seek` stops at a moment of a run,
/// `inputs` checks what it was started from, `verdict` records the outcome, `divergence` finds where two runs
/// diverge, `compare` feeds it, `output` and `files` compare what was printed and what was left on the disk,
/// `capture` and `cassette` read what is stored beside the events.
///
/// May use schemas, files, vault, evidence, recorder, query and vm-runtime. Never writes to the evidence of the
/// run that it replays.
@NullMarked
package blackbox.replay;

import org.jspecify.annotations.NullMarked;
