package blackbox.gateway.stack;

import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.Findings;
import blackbox.gateway.packet.IcmpMessage;
import blackbox.gateway.packet.IpPacket;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.net.IpHeader;
import blackbox.schemas.net.Octets;
import io.netty.channel.Channel;
import java.util.Arrays;
import java.util.function.LongSupplier;

/// Takes a guest's frames and answers them: everything that is not the guest itself. Any address but the guest's has
/// the gateway's Ethernet address. Owned by the loop.
public final class GuestNetwork {
    private static final int ARP = 0x0806;
    private static final int ARP_BYTES = 42;
    private static final int ARP_REQUEST = 1;
    /// QEMU's user network pads its replies to this length, and byte counts are compared.
    private static final int ARP_REPLY_BYTES = 64;

    private final FrameSink frames;
    private final Findings findings;
    private final byte[] guestMac;
    private final byte[] gatewayMac = StackSettings.gatewayMacOctets();
    private final int guest;
    private final int gateway;
    private final PacketSender packets;
    private final TcpTable connections;
    private final DatagramTable datagrams;

    /// @param link the parent of the guest's channels
    /// @param clock nanoseconds, from an origin of its own
    GuestNetwork(
            Channel link,
            FrameSink frames,
            StackSettings settings,
            FlowHandler handler,
            Findings findings,
            LongSupplier clock) {
        this.frames = frames;
        this.findings = findings;
        this.guestMac = settings.guestMacOctets();
        this.guest = Octets.u32(Octets.ofAddress(settings.guest()), 0);
        this.gateway = Octets.u32(Octets.ofAddress(settings.gateway()), 0);
        this.packets = new PacketSender(frames, settings);
        this.connections = new TcpTable(link, frames, packets, settings, handler, findings, clock);
        this.datagrams = new DatagramTable(frames, packets, settings, handler, findings, clock);
    }

    /// TCP connections at the moment, in whatever state.
    public int connectionCount() {
        return connections.size();
    }

    /// Exchanges of datagrams at the moment.
    public int datagramFlowCount() {
        return datagrams.size();
    }

    /// What connections hold at the moment, in octets.
    public long bufferedOctets() {
        return connections.budget().octets();
    }

    /// The most that they ever held.
    public long mostBufferedOctets() {
        return connections.budget().mostOctets();
    }

    /// Takes a frame from the guest: the first `length` octets of an array that stays the caller's.
    void frame(byte[] frame, int length) {
        if (length < IpHeader.ETHERNET_BYTES) {
            findings.found(Finding.MALFORMED, "a frame of " + length + " octets");
            return;
        }
        if (!Arrays.equals(frame, 6, 12, guestMac, 0, 6)) {
            findings.found(Finding.SOURCE_FORGED, "a frame from another Ethernet address than the guest's");
            return;
        }
        switch (Octets.u16(frame, 12)) {
            case ARP -> arp(frame, length);
            case IpHeader.TYPE_V4 -> v4(frame, length);
            case IpHeader.TYPE_V6 -> v6(frame, length);
            default ->
                findings.found(
                        Finding.PROTOCOL_REFUSED, "an Ethernet frame of type 0x%04x".formatted(Octets.u16(frame, 12)));
        }
    }

    private void arp(byte[] frame, int length) {
        if (length < ARP_BYTES) {
            findings.found(Finding.MALFORMED, "an ARP message that is cut off");
            return;
        }
        int sender = Octets.u32(frame, 28);
        if (!Arrays.equals(frame, 22, 28, guestMac, 0, 6) || sender != guest && sender != 0) {
            findings.found(Finding.SOURCE_FORGED, "ARP in the name of " + IpAddress.v4(frame, 28));
            return;
        }
        if (Octets.u16(frame, 20) != ARP_REQUEST || Octets.u32(frame, 38) == guest) {
            return;
        }
        var reply = new byte[ARP_REPLY_BYTES];
        System.arraycopy(guestMac, 0, reply, 0, 6);
        System.arraycopy(gatewayMac, 0, reply, 6, 6);
        System.arraycopy(frame, 12, reply, 12, 8);
        reply[21] = 2;
        System.arraycopy(gatewayMac, 0, reply, 22, 6);
        System.arraycopy(frame, 38, reply, 28, 4);
        System.arraycopy(frame, 22, reply, 32, 10);
        frames.send(reply, reply.length);
    }

    private void v4(byte[] frame, int length) {
        IpHeader ip = IpHeader.of(frame, length);
        if (ip == null || !ip.isWellFormed()) {
            findings.found(Finding.MALFORMED, "an IP packet that contradicts itself");
            return;
        }
        if (isForMany(frame, ip)) {
            return; // such as DHCP, whoever sends it: nobody is there to hear it
        }
        if (Octets.u32(frame, ip.sourceAt()) != guest) {
            findings.found(Finding.SOURCE_FORGED, "a packet from " + IpAddress.v4(frame, ip.sourceAt()));
        } else if (ip.part() != IpHeader.Part.WHOLE) {
            findings.found(Finding.FRAGMENT_REFUSED, "to " + IpAddress.v4(frame, ip.destinationAt()));
        } else {
            switch (ip.protocol()) {
                case IpHeader.TCP -> connections.take(frame, length, ip);
                case IpHeader.UDP -> datagrams.take(frame, ip);
                case IpHeader.ICMP -> icmp(frame, length, ip);
                default -> refuse(frame, length, "IP protocol " + ip.protocol());
            }
        }
    }

    private static boolean isForMany(byte[] frame, IpHeader ip) {
        return (frame[ip.destinationAt()] & 0xff) >= 0xe0; // multicast, reserved, broadcast
    }

    private void refuse(byte[] frame, int length, String what) {
        findings.found(Finding.PROTOCOL_REFUSED, what);
        packets.unreachable(frame, length, Refusal.PROHIBITED);
    }

    /// Answers an echo request to the gateway. Those to others are refused: what they measure is not there. Of errors
    /// that the guest reports, none means anything here.
    private void icmp(byte[] frame, int length, IpHeader ip) {
        IpPacket packet = IpPacket.parse(Arrays.copyOf(frame, length));
        IcmpMessage message = packet == null ? null : IcmpMessage.of(packet);
        if (packet == null || message == null) {
            findings.found(Finding.MALFORMED, "an ICMP message that is cut off");
        } else if (message.saysUnreachable()) {
            return;
        } else if (message.isEchoRequest() && Octets.u32(frame, ip.destinationAt()) == gateway) {
            byte[] here = packet.destination();
            packets.send(message.reply().packet(here, packet.source()));
        } else {
            refuse(frame, length, "ICMP type " + message.type() + " to " + IpAddress.text(packet.destination()));
        }
    }

    /// There is no IPv6: no router, no neighbour. What a host sends to many when its interface comes up is not
    /// answered;
    /// anything else goes nowhere, and is a finding.
    private void v6(byte[] frame, int length) {
        IpHeader ip = IpHeader.of(frame, length);
        if (ip == null || !ip.isWellFormed()) {
            findings.found(Finding.MALFORMED, "an IPv6 packet that contradicts itself");
        } else if ((frame[ip.destinationAt()] & 0xff) != 0xff) {
            findings.found(Finding.IPV6_REFUSED, "to " + IpAddress.v6(frame, ip.destinationAt()));
        }
    }

    /// What came together has been taken.
    void endBatch() {
        connections.endBatch();
    }

    /// The machine takes frames again.
    void resume() {
        connections.resume();
    }

    void tick() {
        connections.tick();
        datagrams.tick();
    }

    void close() {
        connections.close();
        datagrams.close();
    }
}
