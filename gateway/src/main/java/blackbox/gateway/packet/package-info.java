/// Packets of the guest's network as values: what is read from a frame, and the frame that carries an answer.
///
/// Used by the gateway where it answers rarely, and by the replay's peer. No sockets, no state.
@NullMarked
package blackbox.gateway.packet;

import org.jspecify.annotations.NullMarked;
