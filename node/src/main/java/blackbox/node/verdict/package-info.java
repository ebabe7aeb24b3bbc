/// A replay from the first check to the signed verdict: whether the run verifies, what it was started from,
/// the tier that replays it, the document, the leaf in the log of runs, and the report for people.
///
/// Decides nothing about what a replay finds: the replayers do.
@NullMarked
package blackbox.node.verdict;

import org.jspecify.annotations.NullMarked;
