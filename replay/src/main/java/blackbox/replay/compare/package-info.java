/// Recorded runs and the tapes of replays as sides of a comparison, and its result as JSON and as text.
///
/// Between `evidence`, which reads the runs, and [blackbox.replay.divergence], which compares events and knows
/// nothing of files. Only reads runs; a tape is a scratch file.
@NullMarked
package blackbox.replay.compare;

import org.jspecify.annotations.NullMarked;
