package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.gateway.dns.NameService;
import blackbox.gateway.dns.NameTable;
import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.EgressAuthority;
import blackbox.gateway.egress.ExchangeTap;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.Findings;
import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.FlowEnd;
import blackbox.gateway.egress.GatewayListener;
import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.HttpField;
import blackbox.gateway.egress.Judge;
import blackbox.gateway.egress.PlaintextTap;
import blackbox.gateway.egress.Protocol;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.SecretUse;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.packet.IpPacket;
import blackbox.gateway.packet.TcpSegment;
import blackbox.gateway.packet.UdpDatagram;
import blackbox.gateway.stack.DatagramFlow;
import blackbox.gateway.stack.FlowHandler;
import blackbox.gateway.stack.GuestLink;
import blackbox.gateway.stack.OpeningConnection;
import blackbox.gateway.stack.Question;
import blackbox.gateway.stack.Refusal;
import blackbox.gateway.stack.StackSettings;
import blackbox.gateway.tls.ClientHello;
import blackbox.gateway.tls.ClientHello.Kind;
import blackbox.gateway.tls.RunAuthority;
import blackbox.gateway.tls.TlsServer;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.net.DnsMessage;
import blackbox.schemas.net.Octets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/// What a guest sends to its gateway.
final class GatewayTargets {
    private static final byte[] GUEST = Octets.ofAddress("10.0.2.15");
    private static final byte[] REMOTE = Octets.ofAddress("192.0.2.1");
    private static final RunAuthority AUTHORITY = RunAuthority.create(Instant.EPOCH);
    private static final byte[] MAC = HexFormat.of().parseHex("525400123456");
    private static final int ANSWERS_PER_FRAME_MAX = 64;
    private static final int HELD_MAX = 512 << 10;

    static {
        // Jazzer watches what uses Unsafe, and fails where Netty does.
        System.setProperty("io.netty.noUnsafe", "true");
        var unused = new EmbeddedChannel(); // Netty's first takes seconds on a busy machine, which no input may
    }

    private GatewayTargets() {}

    static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of(
                        "gateway-frames",
                        16 << 10,
                        GatewayTargets::link,
                        GatewayTargets::conversations,
                        IOException.class),
                FuzzTarget.of("gateway-names", 1 << 10, GatewayTargets::names, GatewayTargets::questions),
                FuzzTarget.of("gateway-hello", 4 << 10, GatewayTargets::hello, GatewayTargets::hellos),
                FuzzTarget.of(
                        "tls-server",
                        4 << 10,
                        GatewayTargets::server,
                        GatewayTargets::hellosOfClients,
                        SSLException.class));
    }

    /// What a guest sends to a replay's TLS, in two pieces.
    private static boolean server(byte[] input) throws SSLException {
        TlsServer server = TlsServer.of(AUTHORITY, "h.example");
        int half = input.length / 2;
        try {
            byte[] answer = server.take(Arrays.copyOf(input, half), GatewayTargets::heard);
            byte[] rest = server.take(Arrays.copyOfRange(input, half, input.length), GatewayTargets::heard);
            ensure(answer.length + rest.length <= 64 << 10, "an answer without end");
            return answer.length + rest.length > 0;
        } catch (SSLException e) {
            ensure(server.alert().length <= 1 << 10, "an alert without end");
            throw e;
        }
    }

    private static void heard(byte[] octets) {
        ensure(octets.length == 0, "something was heard without a handshake");
    }

    private static final class Silent implements GatewayListener {
        @Override
        public void decided(Decision decision) {
            ensure(!decision.reason().isEmpty(), "a decision without a reason");
        }

        @Override
        public void ended(FlowEnd end) {
            ensure(end.octetsIn() >= 0 && end.octetsOut() >= 0, "a flow of negative length");
        }

        @Override
        public ExchangeTap asked(Flow flow, RequestHead head, List<HttpField> fields) {
            return exchange -> {};
        }

        @Override
        public void secret(SecretUse use) {
            throw new AssertionError("a secret where there is none: " + use);
        }

        @Override
        public PlaintextTap opened(Flow flow) {
            throw new IllegalStateException("no TLS is opened here");
        }

        @Override
        public void found(Finding finding, String detail, long count) {
            ensure(count > 0, "a finding that nothing caused");
        }
    }

    /// Sends back what it gets.
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            var unused = ctx.writeAndFlush(message);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            var unused = ctx.close();
        }
    }

    /// Opens what has an even port, and answers datagrams.
    private record Everybody(List<FlowEnd.How> ends) implements FlowHandler {
        @Override
        public void opening(OpeningConnection connection) {
            if (connection.flow().remote().port() % 2 == 0) {
                connection.accept(new Echo(), (how, octetsOut, octetsIn) -> ends.add(how));
            } else {
                connection.refuse(Refusal.PROHIBITED);
            }
        }

        @Override
        public boolean asked(Question question) {
            return question.flow().remote().port() == 53;
        }

        @Override
        public void opening(DatagramFlow flow) {
            flow.refuse(Refusal.REFUSED);
        }
    }

    /// Frames, each behind its length, as they come over the link. Acknowledgements count from the gateway's first
    /// octet,
    /// whose number is a random one.
    private static boolean link(byte[] input) throws Exception {
        var link = new GuestLink(StackSettings.DEFAULT, new Everybody(new ArrayList<>()), new Findings(new Silent()));
        var channel = new EmbeddedChannel(link);
        int first = 0;
        int frames = 0;
        try {
            ByteBuffer left = ByteBuffer.wrap(input);
            while (left.remaining() >= 4 && channel.isOpen()) {
                int length = left.getInt(left.position());
                byte[] frame = new byte[Math.min(left.remaining(), 4 + Math.clamp(length, 0, 1 << 17))];
                left.get(frame);
                acknowledgeFrom(first, frame);
                channel.writeInbound(Unpooled.wrappedBuffer(frame));
                channel.runPendingTasks();
                first = answers(channel, first);
                frames++;
            }
            ensure(
                    link.network().mostBufferedOctets() <= HELD_MAX,
                    "it holds " + link.network().mostBufferedOctets());
        } finally {
            channel.finishAndReleaseAll();
        }
        ensure(
                link.network().bufferedOctets() == 0,
                "it still holds " + link.network().bufferedOctets());
        if (link.ended().isCompletedExceptionally()) {
            Throwable why = link.ended().exceptionNow();
            if (why instanceof Exception refusal) {
                throw refusal;
            }
            throw new AssertionError("the link broke", why);
        }
        return frames > 0;
    }

    private static void acknowledgeFrom(int first, byte[] frame) {
        int at = 4 + IpPacket.ETHERNET_BYTES + 20 + 8;
        if (frame.length >= at + 4 && frame[4 + 23] == IpPacket.TCP && frame[4 + 14] == 0x45) {
            Octets.putU32(frame, at, Octets.u32(frame, at) + first);
        }
    }

    /// Checks what was sent to the guest; returns the number of the first octet of the connection that was opened last.
    private static int answers(EmbeddedChannel channel, int before) {
        int first = before;
        int count = 0;
        for (ByteBuf framed = channel.readOutbound(); framed != null; framed = channel.readOutbound()) {
            ensure(framed.readInt() == framed.readableBytes(), "a frame of another length than it says");
            var frame = new byte[framed.readableBytes()];
            framed.readBytes(frame).release();
            IpPacket packet = IpPacket.parse(frame);
            TcpSegment segment =
                    packet == null || packet.protocol() != IpPacket.TCP ? null : TcpSegment.parse(packet.payload());
            first = segment != null && segment.is(TcpSegment.SYN) ? segment.sequence() + 1 : first;
            count++;
        }
        ensure(count <= ANSWERS_PER_FRAME_MAX, count + " answers to one frame");
        return first;
    }

    private static final EgressAuthority ANY = new EgressAuthority() {
        @Override
        public CompletionStage<Verdict> name(String host, String type) {
            ensure(host.matches("[a-z0-9_.-]{1,253}"), "not the name of a host: " + host);
            return CompletableFuture.completedFuture(Verdict.allow("any", "any"));
        }

        @Override
        public CompletionStage<Verdict> connect(Destination destination) {
            return CompletableFuture.completedFuture(Verdict.allow("any", "any"));
        }

        @Override
        public CompletionStage<Verdict> tls(Destination destination, @Nullable String serverName) {
            return connect(destination);
        }

        @Override
        public CompletionStage<RequestVerdict> request(
                Destination destination, @Nullable String serverName, RequestHead head) {
            return connect(destination).thenApply(verdict -> new RequestVerdict(verdict, head.target(), 403));
        }

        @Override
        public Verdict address(Destination destination, String address, @Nullable HostPort upstream) {
            return Verdict.allow("any", "any");
        }
    };

    private static boolean names(byte[] message) {
        var listener = new Silent();
        var service = new NameService(
                new NameTable(10, 10),
                new Judge(ANY, Runnable::run, Duration.ofSeconds(1)),
                listener,
                new Findings(listener));
        var flow = new Flow(Protocol.UDP, new Endpoint("10.0.2.15", 40_000), new Endpoint("10.0.2.3", 53));
        var answers = new ArrayList<byte[]>();
        service.answer(flow, message, answers::add);
        ensure(answers.size() <= 1, "two answers");
        for (byte[] answer : answers) {
            ensure(answer.length >= 12 && answer.length <= 1_232, "an answer of " + answer.length);
            ensure(answer[0] == message[0] && answer[1] == message[1], "an answer to something else");
            ensure((answer[2] & 0x80) != 0, "an answer that looks like a question");
            DnsMessage asked = DnsMessage.parse(message);
            DnsMessage read = DnsMessage.parse(answer);
            ensure(read == null || asked != null && read.name().equals(asked.name()), "an answer about another name");
        }
        return !answers.isEmpty() && (answers.getFirst()[3] & 0xf) == 0;
    }

    /// What is said of a hello does not depend on how much of it has come, once anything is said.
    private static boolean hello(byte[] octets) {
        ByteBuf all = Unpooled.wrappedBuffer(octets);
        ClientHello last = ClientHello.read(Unpooled.EMPTY_BUFFER);
        for (int length = 1; length <= octets.length; length++) {
            ClientHello now = ClientHello.read(all.slice(0, length));
            boolean refused = last.kind() == Kind.OTHER || last.kind() == Kind.MALFORMED;
            boolean same = now.kind() == last.kind();
            ensure(same || !refused && now.kind() != Kind.MORE, last + " became " + now);
            String name = now.serverName();
            ensure(name == null || now.kind() == Kind.WHOLE && name.length() <= 255, "a name too early: " + now);
            last = now;
        }
        ensure(all.readerIndex() == 0, "octets were taken");
        return last.serverName() != null;
    }

    private static byte[] framed(IpPacket... packets) {
        ByteBuffer out = ByteBuffer.allocate(4_096);
        for (IpPacket packet : packets) {
            byte[] frame = packet.frame(new byte[6], MAC);
            out.putInt(frame.length).put(frame);
        }
        var octets = new byte[out.position()];
        out.flip().get(octets);
        return octets;
    }

    private static IpPacket tcp(int sequence, int flags, byte[] payload) {
        return new TcpSegment(40_000, 80, sequence, 0, flags, 1_000, 0, payload, 0).packet(GUEST, REMOTE);
    }

    private static Map<String, byte[]> conversations() {
        return Map.of(
                "tcp",
                framed(
                        tcp(0, TcpSegment.SYN, new byte[0]),
                        tcp(1, TcpSegment.ACK, new byte[] {1, 2, 3}),
                        tcp(4, TcpSegment.ACK | TcpSegment.FIN, new byte[0])),
                "udp",
                framed(new UdpDatagram(40_000, 99, new byte[] {1}, 0).packet(GUEST, REMOTE)));
    }

    private static Map<String, byte[]> hellos() {
        return Map.of("hello", Packets.clientHello());
    }

    /// As this JVM's client sends them.
    private static Map<String, byte[]> hellosOfClients() {
        var hellos = new TreeMap<String, byte[]>();
        for (String version : List.of("TLSv1.3", "TLSv1.2")) {
            try {
                SSLEngine client = SSLContext.getDefault().createSSLEngine("h.example", 443);
                client.setUseClientMode(true);
                client.setEnabledProtocols(new String[] {version});
                ByteBuffer out = ByteBuffer.allocate(client.getSession().getPacketBufferSize());
                client.wrap(ByteBuffer.allocate(0), out);
                hellos.put(version, Arrays.copyOf(out.array(), out.position()));
            } catch (NoSuchAlgorithmException | SSLException e) {
                throw new IllegalStateException("this JVM has no TLS", e);
            }
        }
        return hellos;
    }

    private static Map<String, byte[]> questions() {
        return Map.of("question", Packets.dns(false));
    }
}
