/// The re-execution of a run that was recorded live: the same image, snapshot, workspace, entropy and clock
/// in a machine that can reach nothing but a cassette, and how far its behaviour agrees with the recording.
@NullMarked
package blackbox.replay.rerun;

import org.jspecify.annotations.NullMarked;
