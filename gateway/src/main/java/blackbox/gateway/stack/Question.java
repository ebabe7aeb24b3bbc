package blackbox.gateway.stack;

import blackbox.gateway.egress.Flow;

/// A datagram of the guest's, and how it is answered.
///
/// @param payload its octets
/// @param answer sends a datagram back, on the loop
public record Question(Flow flow, byte[] payload, Answer answer) {

    /// Sends a datagram to where a question came from.
    @FunctionalInterface
    public interface Answer {
        void send(byte[] payload);
    }
}
