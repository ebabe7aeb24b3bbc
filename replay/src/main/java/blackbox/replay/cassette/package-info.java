/// The network of a re-executed run: a [Cassette] of what was recorded, and a [CassettePeer] that plays every
/// remote address from it, frame by frame.
///
/// May use schemas. It uses no socket but the one that it gets and contacts nobody; what the recording does
/// not answer fails closed and is reported as a [Miss]. The peer is a pure state machine over frames and
/// times that the caller passes; one thread owns it.
@NullMarked
package blackbox.replay.cassette;

import org.jspecify.annotations.NullMarked;
