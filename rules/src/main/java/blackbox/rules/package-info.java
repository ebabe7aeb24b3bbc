/// Detection rules in Sigma's format: read, compiled to conditions, and matched against the events of a run.
///
/// Values only: never opens a file, a socket or a database, and asks no clock, so that what a rule found while a run
/// was recorded can be found again from the record.
@NullMarked
package blackbox.rules;

import org.jspecify.annotations.NullMarked;
