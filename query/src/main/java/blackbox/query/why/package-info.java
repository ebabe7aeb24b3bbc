/// What in a run follows from which of its model's answers, and the other way round.
///
/// The record has what a model asked for (`llm.tool`), which request brought the result (`llm.call`), and
/// what the guest's kernel saw. Nothing says that one caused the other; this package ties them by the
/// process that held the connection, by who started whom, by time and by what was asked for, and says with
/// a [Grade] how much of that agrees. Reads a run two or three times; memory grows with its processes and
/// tool uses, never with the number of its events. Depends on the other answers; none of them depends on
/// it.
@NullMarked
package blackbox.query.why;

import org.jspecify.annotations.NullMarked;
