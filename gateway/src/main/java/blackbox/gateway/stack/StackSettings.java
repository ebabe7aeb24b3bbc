package blackbox.gateway.stack;

import java.time.Duration;
import java.util.HexFormat;
import java.util.List;

/// Addresses and limits of a guest's network.
///
/// @param guestMac the Ethernet address of the guest's interface, six octets in hexadecimal
/// @param guest its IPv4 address
/// @param gateway the address that answers echo requests and sends errors
/// @param connectionsMax TCP connections at once, those included that end
/// @param halfOpenMax of them, those that were asked for and are not open yet
/// @param datagramFlowsMax exchanges of UDP at once
/// @param bufferedOctetsMax what all connections together may hold, besides 4 KiB for each
/// @param openingMax how long a connection may take to open, once it is answered
/// @param closingMax how long it may take to close
/// @param idleMax how long nothing may move in an open connection
/// @param datagramsIdleMax how long none may come in an exchange of datagrams
public record StackSettings(
        String guestMac,
        String guest,
        String gateway,
        int connectionsMax,
        int halfOpenMax,
        int datagramFlowsMax,
        int bufferedOctetsMax,
        Duration openingMax,
        Duration closingMax,
        Duration idleMax,
        Duration datagramsIdleMax) {

    /// What QEMU's user network and network card have, so that a warm snapshot fits either.
    public static final StackSettings DEFAULT = new StackSettings(
            "525400123456",
            "10.0.2.15",
            "10.0.2.2",
            16_384,
            1_024,
            1_024,
            64 << 20,
            Duration.ofSeconds(30),
            Duration.ofSeconds(60),
            Duration.ofHours(1),
            Duration.ofSeconds(60));

    public StackSettings {
        for (int limit : List.of(connectionsMax, halfOpenMax, datagramFlowsMax, bufferedOctetsMax)) {
            if (limit < 1) {
                throw new IllegalArgumentException("a limit of the guest's network is " + limit);
            }
        }
    }

    /// The Ethernet address of everybody but the guest: that of the gateway of QEMU's user network.
    static byte[] gatewayMacOctets() {
        return new byte[] {0x52, 0x55, 0x0a, 0x00, 0x02, 0x02};
    }

    byte[] guestMacOctets() {
        return HexFormat.of().parseHex(guestMac);
    }

    /// With other limits on connections.
    public StackSettings withConnections(int openMax, int openingAtOnceMax) {
        return new StackSettings(
                guestMac,
                guest,
                gateway,
                openMax,
                openingAtOnceMax,
                datagramFlowsMax,
                bufferedOctetsMax,
                openingMax,
                closingMax,
                idleMax,
                datagramsIdleMax);
    }

    /// With other limits on time.
    public StackSettings withTimes(Duration opening, Duration closing, Duration idle, Duration datagramsIdle) {
        return new StackSettings(
                guestMac,
                guest,
                gateway,
                connectionsMax,
                halfOpenMax,
                datagramFlowsMax,
                bufferedOctetsMax,
                opening,
                closing,
                idle,
                datagramsIdle);
    }

    /// With another limit on what is buffered.
    public StackSettings withBuffered(int octetsMax) {
        return new StackSettings(
                guestMac,
                guest,
                gateway,
                connectionsMax,
                halfOpenMax,
                datagramFlowsMax,
                octetsMax,
                openingMax,
                closingMax,
                idleMax,
                datagramsIdleMax);
    }
}
