/// The re-execution of a run that was recorded live: the same image, snapshot, workspace, entropy and clock
/// in a machine that reaches nothing but a cassette, and how far what it does is what was recorded.
@NullMarked
package blackbox.replay.rerun;

import org.jspecify.annotations.NullMarked;
