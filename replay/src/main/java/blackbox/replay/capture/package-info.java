/// The files that were kept beside a run's events, checked against the events that seal them
/// (`schemas/capture.md`).
///
/// Reads only. Believes the events: whether those are what was signed is `verify`'s business.
@NullMarked
package blackbox.replay.capture;

import org.jspecify.annotations.NullMarked;
