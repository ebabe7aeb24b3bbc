/// The files that are stored beside a run's events, checked against the events that seal them
/// (`schemas/capture.md`).
///
/// Reads only. Relies on the events: `verify` checks whether those are what was signed.
@NullMarked
package blackbox.replay.capture;

import org.jspecify.annotations.NullMarked;
