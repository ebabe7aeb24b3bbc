/// What git stores: its index, and its objects, whose ids depend on the second in which they were made. Compares them
/// by what they mean, and finds out which id stands for which on the other side.
///
/// Knows neither events nor disks nor verdicts: its callers say what was written and when. All that it reads is a claim
/// of a guest and may be hostile: every loop is bounded, and what is not understood stands for nothing. Depends on
/// `content`.
@NullMarked
package blackbox.replay.git;

import org.jspecify.annotations.NullMarked;
