/// A replay from the first check to the signed verdict: whether the run holds, what it was started from, the
/// tier that replays it, the document, the leaf of the log of runs, and what people are told.
///
/// Decides nothing of what a replay finds: that is the tiers'.
@NullMarked
package blackbox.node.verdict;

import org.jspecify.annotations.NullMarked;
