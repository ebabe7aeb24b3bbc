package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.recorder.feed.FlowFeed;
import blackbox.recorder.guest.HostClock;
import blackbox.recorder.net.FlowTable;
import blackbox.recorder.net.FlowTable.Direction;
import blackbox.schemas.event.Event;
import blackbox.schemas.net.DnsMessage;
import blackbox.schemas.net.IpHeader;
import blackbox.schemas.net.TcpHeader;
import blackbox.schemas.net.UdpHeader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/// What goes through the guest's network card, as the recorder reads it.
final class NetworkTargets {
    private static final Instant NOW = Instant.parse("2026-11-22T00:00:00Z");
    private static final int SYN = TcpHeader.SYN;
    private static final int DATA = TcpHeader.ACK | TcpHeader.PSH;

    private NetworkTargets() {}

    static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of("ethernet", 2 << 10, NetworkTargets::ethernet, NetworkTargets::frames),
                FuzzTarget.of("dns", 1 << 10, NetworkTargets::dns, NetworkTargets::messages),
                FuzzTarget.of("client-hello", 12 << 10, NetworkTargets::hello, NetworkTargets::hellos),
                FuzzTarget.of("pcap", 16 << 10, NetworkTargets::pcap, NetworkTargets::captures, IOException.class));
    }

    private static boolean ethernet(byte[] frame) throws IOException {
        IpHeader ip = IpHeader.of(frame);
        if (ip != null) {
            ensure(
                    ip.sourceAt() + 2 * ip.addressBytes() <= frame.length
                            && ip.payloadAt() <= ip.end()
                            && ip.end() <= frame.length,
                    "a header leads outside of its frame: " + ip);
            TcpHeader tcp = TcpHeader.of(frame, ip.payloadAt(), ip.end());
            ensure(
                    tcp == null || tcp.payloadAt() > ip.payloadAt() && tcp.payloadAt() <= ip.end(),
                    "a segment's payload is outside of it: " + tcp);
            UdpHeader udp = UdpHeader.of(frame, ip.payloadAt(), ip.end());
            ensure(
                    udp == null
                            || udp.payloadAt() > ip.payloadAt()
                                    && udp.payloadAt() <= udp.payloadEnd()
                                    && udp.payloadEnd() <= ip.end(),
                    "a datagram's payload is outside of it: " + udp);
        }
        flows(2L * frame.length, frame, frame);
        return ip != null;
    }

    /// Has a recorder fold frames, from the guest and to it in turn.
    private static void flows(long bytesMax, byte[]... frames) throws IOException {
        var flows = new FlowTable();
        var rows = new Rows();
        long now = NOW.getEpochSecond() * 1_000_000_000L;
        for (int i = 0; i < frames.length; i++) {
            for (Event event : flows.add(frames[i], i % 2 == 0 ? Direction.OUT : Direction.IN, now)) {
                rows.take(event);
            }
        }
        long counted = 0;
        for (Event event : flows.close(now)) {
            rows.take(event);
            if (event instanceof Event.NetFlow flow) {
                ensure(flow.bytesOut() >= 0 && flow.bytesIn() >= 0, "a flow of negative length");
                counted += flow.bytesOut() + flow.bytesIn();
            }
        }
        ensure(counted <= bytesMax, "flows have " + counted + " octets, and the frames " + bytesMax);
    }

    private static boolean dns(byte[] octets) throws IOException {
        DnsMessage message = DnsMessage.parse(octets);
        if (message != null) {
            ensure(
                    message.name().length() <= 4 * 255 + 127,
                    "a name of " + message.name().length());
            ensure(message.answers().size() <= 64, "more answers than are kept");
            ensure(message.onlyQuestionEnd() <= octets.length, "a question ends behind its message");
            ensure(message.name().chars().allMatch(c -> c > ' ' && c < 127), "a name is not printable");
        }
        byte[] question = Packets.udp(true, 53, octets.length == 0 ? octets : withFlag(octets, false));
        flows(2L * (question.length + octets.length), question, Packets.udp(false, 53, withFlag(octets, true)));
        return message != null;
    }

    /// As an answer, or as a question.
    private static byte[] withFlag(byte[] message, boolean response) {
        byte[] copy = message.clone();
        if (copy.length > 2) {
            copy[2] = (byte) (response ? copy[2] | 0x80 : copy[2] & 0x7f);
        }
        return copy;
    }

    /// The octets of a connection in segments, the length of each of which is in the first octet.
    private static boolean hello(byte[] input) throws IOException {
        if (input.length == 0) {
            return false;
        }
        int size = 1 + (input[0] & 0xff);
        var flows = new FlowTable();
        var rows = new Rows();
        int sequence = 1;
        for (Event event : flows.add(Packets.tcp(true, 443, 0, SYN, new byte[0]), Direction.OUT, 1)) {
            rows.take(event);
        }
        for (int at = 1; at < input.length; at += size) {
            byte[] part = Arrays.copyOfRange(input, at, Math.min(input.length, at + size));
            flows.add(Packets.tcp(true, 443, sequence, DATA, part), Direction.OUT, 1);
            sequence += part.length;
        }
        boolean named = false;
        for (Event event : flows.close(1)) {
            rows.take(event);
            if (event instanceof Event.NetFlow flow && flow.host() != null) {
                String host = flow.host().toString();
                ensure(!host.isEmpty() && host.length() <= 255, "a server name of " + host.length());
                ensure(host.chars().allMatch(c -> c > ' ' && c < 127), "a server name is not printable");
                named = true;
            }
        }
        return named;
    }

    /// The octets of both directions, one behind the other; the first two say how many are the guest's.
    private static boolean pcap(byte[] input) throws Exception {
        if (input.length < 2) {
            return false;
        }
        int sent = Math.min(
                input.length, 2 + Short.toUnsignedInt(ByteBuffer.wrap(input).getShort()));
        var rows = new Rows();
        var feed = new FlowFeed(new HostClock(() -> NOW), event -> {
            try {
                rows.take(event);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        feed.read(new ByteArrayInputStream(input, 2, sent - 2), Direction.OUT);
        feed.read(new ByteArrayInputStream(input, sent, input.length - sent), Direction.IN);
        feed.finish();
        return true;
    }

    private static Map<String, byte[]> frames() {
        return Map.of(
                "tcp", Packets.tcp(true, 443, 1, DATA, Packets.clientHello()),
                "udp", Packets.udp(true, 53, Packets.dns(false)),
                "ipv6-extensions", Packets.ipv6(53, Packets.dns(false)));
    }

    private static Map<String, byte[]> messages() {
        return Map.of("question", Packets.dns(false), "answer", Packets.dns(true));
    }

    private static Map<String, byte[]> hellos() {
        byte[] hello = Packets.clientHello();
        return Map.of("whole", behind((byte) 255, hello), "in-parts", behind((byte) 9, hello));
    }

    private static byte[] behind(byte first, byte[] octets) {
        return ByteBuffer.allocate(1 + octets.length).put(first).put(octets).array();
    }

    private static Map<String, byte[]> captures() {
        byte[] out = Packets.pcap(
                Packets.udp(true, 53, Packets.dns(false)),
                Packets.tcp(true, 80, 0, SYN, new byte[0]),
                Packets.tcp(true, 80, 1, DATA, "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
        byte[] in = Packets.pcap(
                Packets.udp(false, 53, Packets.dns(true)), Packets.tcp(false, 80, 0, SYN | TcpHeader.ACK, new byte[0]));
        return Map.of("both", joined(out, in));
    }

    /// Two directions' captures as one input.
    static byte[] joined(byte[] out, byte[] in) {
        return ByteBuffer.allocate(2 + out.length + in.length)
                .putShort((short) out.length)
                .put(out)
                .put(in)
                .array();
    }
}
