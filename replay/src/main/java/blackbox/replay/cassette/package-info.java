/// The network of a re-executed run: a [Cassette] of what was recorded, and a [CassettePeer] that plays every
/// remote address from it, frame by frame.
///
/// May use schemas. It opens no socket but the one it is handed, asks nobody, and what the recording does not
/// answer fails closed and is told as a [Miss]. The peer is a pure machine over frames and a clock that is
/// handed in; one thread owns it.
@NullMarked
package blackbox.replay.cassette;

import org.jspecify.annotations.NullMarked;
