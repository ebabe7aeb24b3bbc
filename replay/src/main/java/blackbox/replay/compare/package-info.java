/// Recorded runs as sides of a comparison, and what came of one as JSON and as text.
///
/// Between `evidence`, which reads the runs, and [blackbox.replay.divergence], which compares events and knows
/// no files. Reads only.
@NullMarked
package blackbox.replay.compare;

import org.jspecify.annotations.NullMarked;
