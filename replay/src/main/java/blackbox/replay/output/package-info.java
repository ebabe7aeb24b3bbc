/// What a run's command printed, read from the files that its events seal, and compared with what a replay
/// prints: octet for octet, with the time of each piece (`schemas/capture.md`).
///
/// Reads only, and gives no octet that is not sealed. Knows no verdict: that a difference is one, is decided by
/// the replays.
@NullMarked
package blackbox.replay.output;

import org.jspecify.annotations.NullMarked;
