/// Where two runs diverge, and why: two streams of recorded events are aligned, the first divergence is found
/// in happens-before order and traced back to the first input that differed.
///
/// Pure: events come through [EventSource], facts about the two sides as values, and the hash key from the
/// caller; no files, no clocks, no randomness. Memory is bounded by windows, whatever the length of the runs.
@NullMarked
package blackbox.replay.divergence;

import org.jspecify.annotations.NullMarked;
