package blackbox.policy.decide;

import blackbox.policy.host.Address;
import org.jspecify.annotations.Nullable;

/// What is known about a connection.
///
/// @param host the name that the guest connects to, as it was said; null if it connects to an address
/// @param address the address that is, or is about to be, dialled; null if it is not known yet
/// @param port of the peer
/// @param exe the absolute path of the program whose connection it is, as the guest says; null if it is not
///     known
public record Connection(
        Transport transport,
        @Nullable String host,
        @Nullable Address address,
        int port,
        @Nullable String exe) {

    /// What carries it.
    public enum Transport {
        TCP,
        UDP
    }

    /// @throws IllegalArgumentException when neither a name nor an address is known
    public Connection {
        if (host == null && address == null) {
            throw new IllegalArgumentException("a connection is to a name or to an address");
        }
    }

    /// The same, of a program.
    Connection by(@Nullable String program) {
        return new Connection(transport, host, address, port, program);
    }

    /// Whom it is to, as it was said.
    public String peer() {
        return host != null ? host : String.valueOf(address);
    }
}
