/// Seeking to a moment of an exact recording: an index from the tracer's frames to instructions, with replay
/// checkpoints on the way, and the search from the nearest of them to a frame.
///
/// May use vm-runtime, capture and `exact`. Writes only below a run's `replays/`, and all of it can be
/// rebuilt.
@NullMarked
package blackbox.replay.seek;

import org.jspecify.annotations.NullMarked;
