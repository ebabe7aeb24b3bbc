/// The guest's side of a recording: frames become events, sequence numbers become declared losses.
///
/// Knows processes only as far as frames have reported them. Everything here is what a possibly hostile guest
/// claims, bounded and in order; [SequenceLedger] proves what is missing, and the host's own view is
/// elsewhere.
@NullMarked
package blackbox.recorder.guest;

import org.jspecify.annotations.NullMarked;
