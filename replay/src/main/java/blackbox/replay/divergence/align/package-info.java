/// Pairs the strands of two runs and finds the shortest list of edits between them, names paired on the way, noise left
/// out. Depends on `strand` and `text`.
@NullMarked
package blackbox.replay.divergence.align;

import org.jspecify.annotations.NullMarked;
