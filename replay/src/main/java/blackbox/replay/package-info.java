/// Replay of a recorded run and the comparison of the two. Nothing here yet: it comes with its own issue.
///
/// May use schemas, query and vm-runtime. It will never write to the evidence of the run that it replays.
@NullMarked
package blackbox.replay;

import org.jspecify.annotations.NullMarked;
