/// Payloads beside a run's events, encrypted at rest (`schemas/payload.md`): each run has a key of its own, which the
/// data folder's key wraps. Deleting the run's key shreds its payloads and leaves its events as they are.
///
/// May use schemas and files. Knows nothing of what a payload holds, and does not judge it: whether its octets are
/// those that the run sealed is for their readers to check.
@NullMarked
package blackbox.vault;

import org.jspecify.annotations.NullMarked;
