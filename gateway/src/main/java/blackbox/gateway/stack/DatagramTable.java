package blackbox.gateway.stack;

import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.Findings;
import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.FlowEnd.How;
import blackbox.gateway.egress.Protocol;
import blackbox.gateway.packet.UdpDatagram;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.net.IpHeader;
import blackbox.schemas.net.Octets;
import blackbox.schemas.net.UdpHeader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.function.LongSupplier;

/// All exchanges of datagrams of a guest. Owned by the loop.
final class DatagramTable {
    /// What a guest takes without fragments, whatever MTU its interface has.
    private static final int PAYLOAD_BYTES_MAX = 1_500 - 20 - UdpHeader.BYTES;

    private static final float LOAD = 0.75f;

    private final FrameSink frames;
    private final PacketSender packets;
    private final StackSettings settings;
    private final FlowHandler handler;
    private final Findings findings;
    private final LongSupplier clock;
    /// The one that was used longest ago is first.
    private final LinkedHashMap<Long, DatagramFlow> flows = new LinkedHashMap<>(16, LOAD, true);

    DatagramTable(
            FrameSink frames,
            PacketSender packets,
            StackSettings settings,
            FlowHandler handler,
            Findings findings,
            LongSupplier clock) {
        this.frames = frames;
        this.packets = packets;
        this.settings = settings;
        this.handler = handler;
        this.findings = findings;
        this.clock = clock;
    }

    long nowNs() {
        return clock.getAsLong();
    }

    int size() {
        return flows.size();
    }

    void take(byte[] octets, IpHeader ip) {
        UdpHeader header = UdpHeader.of(octets, ip.payloadAt(), ip.end());
        if (header == null || !header.isWellFormed() || header.sourcePort() == 0 || header.destinationPort() == 0) {
            findings.found(Finding.MALFORMED, "a UDP datagram that contradicts itself");
            return;
        }
        byte[] payload = Arrays.copyOfRange(octets, header.payloadAt(), header.payloadEnd());
        int remote = Octets.u32(octets, ip.destinationAt());
        var flow = new Flow(
                Protocol.UDP,
                new Endpoint(settings.guest(), header.sourcePort()),
                new Endpoint(IpAddress.v4(octets, ip.destinationAt()), header.destinationPort()));
        if (!handler.asked(new Question(flow, payload, answer -> send(flow, answer)))) {
            long key = (long) remote << 32 | (long) header.sourcePort() << 16 | header.destinationPort();
            take(key, flow, payload);
        }
    }

    private void take(long key, Flow flow, byte[] payload) {
        DatagramFlow known = flows.get(key);
        if (known != null) {
            known.take(payload, nowNs());
            return;
        }
        if (flows.size() >= settings.datagramFlowsMax()) {
            findings.found(Finding.DATAGRAM_FLOWS_DROPPED, "more than " + settings.datagramFlowsMax() + " at once");
            flows.firstEntry().getValue().end(How.EVICTED);
        }
        var opened = new DatagramFlow(this, key, flow, nowNs());
        flows.put(key, opened);
        opened.take(payload, nowNs());
        handler.opening(opened);
    }

    /// Sends a datagram to the guest; false if it cannot be taken.
    boolean send(Flow flow, byte[] payload) {
        if (payload.length > PAYLOAD_BYTES_MAX || !frames.isReady()) {
            return false;
        }
        byte[] from = Octets.ofAddress(flow.remote().ip());
        byte[] to = Octets.ofAddress(flow.guest().ip());
        packets.send(new UdpDatagram(flow.remote().port(), flow.guest().port(), payload, 0).packet(from, to));
        frames.flush();
        return true;
    }

    void refuse(Flow flow, byte[] payload, Refusal why) {
        byte[] from = Octets.ofAddress(flow.guest().ip());
        byte[] to = Octets.ofAddress(flow.remote().ip());
        byte[] frame = new UdpDatagram(flow.guest().port(), flow.remote().port(), payload, 0)
                .packet(from, to)
                .frame(settings.guestMacOctets(), settings.guestMacOctets());
        packets.unreachable(frame, frame.length, why);
        frames.flush();
    }

    void remove(DatagramFlow flow) {
        flows.remove(flow.key(), flow);
    }

    void tick() {
        long now = nowNs();
        long max = settings.datagramsIdleMax().toNanos();
        for (DatagramFlow flow : new ArrayList<>(flows.values())) {
            if (flow.isIdle(now, max)) {
                flow.end(How.FINISHED);
            }
        }
    }

    void close() {
        new ArrayList<>(flows.values()).forEach(flow -> flow.end(How.GATEWAY_CLOSED));
    }
}
