/// Pairs the strands of two runs and finds the shortest list of edits between them, pairing names on the way and
/// leaving noise out. Depends on `strand` and `text`.
@NullMarked
package blackbox.replay.divergence.align;

import org.jspecify.annotations.NullMarked;
