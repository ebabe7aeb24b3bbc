/// What a landing stands on: the events of a run, and an exact recording in which each of them happens. That is the
/// run's own recording, or a re-execution of it that was kept.
@NullMarked
package blackbox.replay.landing;

import org.jspecify.annotations.NullMarked;
