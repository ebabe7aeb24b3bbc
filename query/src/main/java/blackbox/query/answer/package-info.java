/// The answers people and programs ask for: a run's events in order, what it touched, the list of runs; as
/// values, as JSON (the form in the command-line contract) and as text for people.
///
/// Streams over rows; memory grows with what is reported (paths, processes, peers), never with the number of
/// events. What guests wrote is escaped before a terminal sees it.
@NullMarked
package blackbox.query.answer;

import org.jspecify.annotations.NullMarked;
