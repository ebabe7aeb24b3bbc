/// Landing at a moment of an exact recording: an index from the tracer's frames to instructions, with
/// machines kept on the way, and the way from the nearest of them to a frame.
///
/// May use vm-runtime, capture and `exact`. Writes below a run's `replays/` only, and all of it can be made again.
@NullMarked
package blackbox.replay.seek;

import org.jspecify.annotations.NullMarked;
