/// Replay of a recorded run, and what is said of it; here is the one exception. `tier` is how a run is
/// replayed, `exact` and `rerun` are the two ways, `seek` lands in a run, `inputs` checks what it was started
/// from, `verdict` says what came out, `divergence` finds where two runs part, `compare` feeds it, `capture`
/// and `cassette` read what was kept beside the events.
///
/// May use schemas, evidence, recorder, query and vm-runtime. Never writes to the evidence of the run that it
/// replays.
@NullMarked
package blackbox.replay;

import org.jspecify.annotations.NullMarked;
