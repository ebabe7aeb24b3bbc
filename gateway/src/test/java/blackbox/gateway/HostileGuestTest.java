package blackbox.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.EgressAuthority;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.FlowEnd;
import blackbox.gateway.egress.GatewayListener;
import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.packet.TcpSegment;
import blackbox.gateway.stack.GuestNetwork;
import blackbox.gateway.stack.StackSettings;
import blackbox.schemas.Seeded;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A guest that wants the gateway's memory, its attention, or another's connection.
class HostileGuestTest {
    private static final int ACK = TcpSegment.ACK;

    @TempDir
    Path folder;

    /// Never answers about a connection.
    private static final EgressAuthority SILENT = new OctetsOnly() {
        @Override
        public CompletionStage<Verdict> name(String host, String type) {
            return new CompletableFuture<>();
        }

        @Override
        public CompletionStage<Verdict> connect(Destination destination) {
            return new CompletableFuture<>();
        }

        @Override
        public Verdict address(Destination destination, String address, @Nullable HostPort upstream) {
            return Verdict.allow("any", "by address");
        }
    };

    private static byte[] octets(Served served, int length) {
        var octets = new byte[length];
        served.random.nextBytes(octets);
        return octets;
    }

    private static void flood(TestGuest guest, int count, int port) throws IOException {
        var frames = new byte[100][];
        for (int i = 0; i < count; i += frames.length) {
            for (int j = 0; j < frames.length; j++) {
                int from = 1_024 + (i + j) % 60_000;
                String to = i + j < 60_000 ? Served.SERVER : "192.0.2.2";
                frames[j] = TestGuest.tcp(to, TestGuest.syn(from, port, i + j));
            }
            guest.send(frames);
        }
    }

    @Test
    void aFloodOfSynsIsBoundedWhileNothingIsDecided() throws Exception {
        try (var served = new Served(folder, GatewaySettings.DEFAULT, _ -> SILENT, OctetRelay.FACTORY)) {
            flood(served.guest, 100_000, 80);
            served.listener.await("too few were dropped", all -> all.count(Finding.HALF_OPEN_DROPPED) >= (1 << 16));
            int open = served.onLoop(GuestNetwork::connectionCount);
            assertTrue(open <= StackSettings.DEFAULT.halfOpenMax(), open + " at once");
            served.gateway.close();
            assertEquals(100_000 - 1_024, served.listener.count(Finding.HALF_OPEN_DROPPED));
        }
    }

    /// Each dials, and none is ever acknowledged. One that behaves gets through at once.
    @Test
    void aFloodOfSynsThatAreAllowedLeavesRoomForOthers() throws Exception {
        StackSettings few = StackSettings.DEFAULT.withConnections(16_384, 64);
        try (var served =
                new Served(folder, GatewaySettings.DEFAULT.withStack(few), Served.Rules::new, OctetRelay.FACTORY)) {
            flood(served.guest, 5_000, served.port());
            TestConnection honest = served.connect(63_000).awaitOpen();
            honest.send(new byte[] {7});
            boolean heard = false;
            while (!heard) {
                Socket socket = served.accepted();
                socket.setSoTimeout(1);
                heard = readsSeven(socket);
            }
            int open = served.onLoop(GuestNetwork::connectionCount);
            assertTrue(open <= 65, open + " at once");
        }
    }

    private static boolean readsSeven(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read() == 7;
        } catch (SocketTimeoutException | SocketException _) {
            socket.close();
            return false;
        }
    }

    @Test
    void moreConnectionsThanAreKeptAreRefused() throws Exception {
        StackSettings few = StackSettings.DEFAULT.withConnections(8, 8);
        try (var served =
                new Served(folder, GatewaySettings.DEFAULT.withStack(few), Served.Rules::new, OctetRelay.FACTORY)) {
            var open = new ArrayList<TestConnection>();
            for (int i = 0; i < 8; i++) {
                open.add(served.connect(40_000 + i).awaitOpen());
            }
            TestConnection refused = served.connect(41_000);
            refused.awaitReset();
            assertEquals(1, served.listener.count(Finding.CONNECTIONS_REFUSED));
            open.getFirst().say(0, TcpSegment.RST, new byte[0]);
            served.listener.await("it did not end", all -> !all.ends().isEmpty());
            served.connect(41_001).awaitOpen();
        }
    }

    /// As many as are kept, and nothing moves in them. What is measured includes the test's own side.
    @Test
    void idleConnectionsCostLittle() throws Exception {
        ConnectionHandler silent = connection -> connection.accept(new ChannelInboundHandlerAdapter() {
            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {} // the gateway's end
        });
        int count = StackSettings.DEFAULT.connectionsMax();
        try (var served =
                new Served(folder, GatewaySettings.DEFAULT, Served.Rules::new, (judge, listener, findings) -> silent)) {
            long before = heap();
            TestConnection last = null;
            for (int i = 0; i < count; i++) {
                last = served.connect(1_024 + i);
                if (i % 256 == 255) {
                    last.awaitOpen();
                }
            }
            int open = served.onLoop(GuestNetwork::connectionCount);
            assertEquals(count, open);
            long each = (heap() - before) / count;
            System.out.println("an idle connection takes " + each + " octets");
            assertTrue(each < 8 << 10, each + " octets each");
            assertEquals(0, served.listener.count(Finding.HALF_OPEN_DROPPED));
            served.connect(60_000).awaitReset();
            assertNotNull(last);
        }
    }

    private static long heap() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    @Test
    void aSlowReaderStopsItsServer() throws Exception {
        try (var served = new Served(folder)) {
            TestConnection guest = served.connect(40_000).awaitOpen();
            Socket server = served.accepted();
            byte[] all = octets(served, 16 << 20);
            guest.take(10_000, 0);
            var writing = CompletableFuture.runAsync(() -> {
                try {
                    server.getOutputStream().write(all);
                    server.close();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            guest.awaitReceived(10_000);
            assertFalse(writing.isDone());
            // A probe of the shut window comes after half a second, and is taken.
            guest.take(1, 0);
            guest.awaitReceived(10_001);
            guest.takeAll();
            guest.awaitFinished();
            writing.get();
            assertArrayEquals(all, guest.received());
            long most = served.onLoop(GuestNetwork::mostBufferedOctets);
            assertTrue(most <= 384 << 10, "the gateway held " + most);
        }
    }

    @Test
    void aSlowServerShutsTheGuestsWindow() throws Exception {
        try (var served = new Served(folder)) {
            TestConnection guest = served.connect(40_000).awaitOpen();
            Socket server = served.accepted();
            byte[] all = octets(served, 16 << 20);
            guest.send(all);
            guest.finish();
            guest.awaitWindow(0);
            int before = guest.acknowledged();
            guest.say(before, ACK, new byte[] {all[before]}); // a probe, which is answered
            assertArrayEquals(all, server.getInputStream().readAllBytes());
            server.close();
            guest.awaitFinished();
            long most = served.onLoop(GuestNetwork::mostBufferedOctets);
            assertTrue(most <= 256 << 10, "the gateway held " + most);
        }
    }

    /// A hundred connections to a server that reads nothing.
    @Test
    void allConnectionsTogetherHoldLittle() throws Exception {
        StackSettings small = StackSettings.DEFAULT.withBuffered(1 << 20);
        try (var served =
                new Served(folder, GatewaySettings.DEFAULT.withStack(small), Served.Rules::new, OctetRelay.FACTORY)) {
            var guests = new ArrayList<TestConnection>();
            var servers = new ArrayList<Socket>();
            byte[] much = octets(served, 6 << 20);
            for (int i = 0; i < 30; i++) {
                guests.add(served.connect(40_000 + i).awaitOpen());
                servers.add(served.accepted());
                guests.getLast().send(much);
            }
            for (TestConnection guest : guests) {
                guest.awaitWindow(0);
            }
            long most = served.onLoop(GuestNetwork::mostBufferedOctets);
            assertTrue(most <= (1 << 20) + 30 * (8 << 10), "the gateway held " + most);
            var readings = servers.stream()
                    .map(server -> CompletableFuture.supplyAsync(() -> readAll(server), Thread::startVirtualThread))
                    .toList();
            for (int i = 0; i < 30; i++) {
                guests.get(i).finish();
                guests.get(i).awaitAcknowledged(); // it sends again what was dropped
                assertArrayEquals(much, readings.get(i).get(), "connection " + i);
            }
        }
    }

    private static byte[] readAll(Socket server) {
        try {
            return server.getInputStream().readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Both sides have said that they are done, but the server does not take what the guest sent.
    @Test
    void aConnectionCountsUntilAllIsRead() throws Exception {
        StackSettings one = StackSettings.DEFAULT.withConnections(1, 1);
        try (var served =
                new Served(folder, GatewaySettings.DEFAULT.withStack(one), Served.Rules::new, OctetRelay.FACTORY)) {
            TestConnection guest = served.connect(40_000).awaitOpen();
            Socket server = served.accepted();
            byte[] all = octets(served, 8 << 20);
            server.shutdownOutput();
            guest.send(all);
            guest.finish();
            guest.awaitFinished();
            guest.awaitWindow(0);
            served.connect(40_001).awaitReset();
            assertArrayEquals(all, server.getInputStream().readAllBytes());
            served.listener.await("it does not end", seen -> seen.ends().size() == 1);
            assertEquals(FlowEnd.How.FINISHED, served.listener.ends().getFirst().how());
            served.connect(40_002).awaitOpen();
        }
    }

    @Test
    void injectedResetsAndSynsAreAskedAbout() throws Exception {
        try (var served = new Served(folder)) {
            TestConnection guest = served.connect(40_000).awaitOpen();
            Socket server = served.accepted();
            int first = guest.firstSequence();
            for (int away : new int[] {1, 100, 65_000}) {
                guest.send(first + away, 0, TcpSegment.RST, new byte[0]);
            }
            guest.send(first - 1, 0, TcpSegment.RST, new byte[0]);
            guest.send(first + 70_000, 0, TcpSegment.RST, new byte[0]);
            guest.send(first + 10, 0, TcpSegment.SYN, new byte[0]);
            guest.send(first, guest.remoteSequence() + 5_000, ACK, new byte[] {1}); // acknowledges what was not sent
            guest.send(first, guest.remoteSequence() - 100_000, ACK, new byte[] {1});
            guest.send(first, 0, 0, new byte[] {1}); // no acknowledgement at all
            guest.send(new byte[] {9});
            assertEquals(9, server.getInputStream().read());
            assertFalse(guest.isReset());
        }
    }

    @Test
    void overlappingEarlyAndTinySegments() throws Exception {
        try (var served = new Served(folder)) {
            TestConnection guest = served.connect(40_000).awaitOpen();
            Socket server = served.accepted();
            byte[] all = octets(served, 3_000);
            guest.say(1_000, ACK, Arrays.copyOfRange(all, 1_000, 2_000)); // early: dropped
            guest.say(0, ACK, Arrays.copyOf(all, 600));
            guest.say(300, ACK, Arrays.copyOfRange(all, 300, 900));
            guest.say(0, ACK, new byte[600]); // what was taken is not replaced
            guest.say(0, ACK, Arrays.copyOf(all, 1_000));
            for (int i = 1_000; i < 1_200; i++) {
                guest.say(i, ACK, new byte[] {all[i]});
            }
            guest.say(5_000, ACK | TcpSegment.FIN, new byte[0]); // early: no end
            guest.say(1_100, ACK | TcpSegment.FIN, Arrays.copyOfRange(all, 1_100, 3_000));
            guest.say(3_001, ACK, new byte[10]); // behind the end
            assertArrayEquals(all, server.getInputStream().readAllBytes());
            assertFalse(guest.isReset());
        }
    }

    @Test
    void sequenceNumbersWrap() throws Exception {
        try (var served = new Served(folder)) {
            for (int isn : new int[] {-1, -2, -30_000, Integer.MAX_VALUE, Integer.MAX_VALUE - 30_000}) {
                var guest = new TestConnection(served.guest, Served.SERVER, served.port(), 40_000 + isn % 100, isn);
                guest.open();
                guest.awaitOpen();
                Socket server = served.accepted();
                byte[] all = octets(served, 200_000);
                guest.send(all);
                guest.finish();
                assertArrayEquals(all, server.getInputStream().readAllBytes());
                server.close();
                guest.awaitFinished();
            }
        }
    }

    @Test
    void aKeepAliveIsAnsweredAndAStrangerReset() throws Exception {
        try (var served = new Served(folder)) {
            TestConnection guest = served.connect(40_000).awaitOpen();
            var answered = new CompletableFuture<TcpSegment>();
            served.guest.onSegments(40_000, answered::complete);
            guest.say(-1, ACK, new byte[] {0});
            assertEquals(guest.firstSequence(), answered.get().acknowledgement());
            served.guest.send(TestGuest.tcp(
                    Served.SERVER, new TcpSegment(50_000, served.port(), 77, 99, ACK, 100, 0, new byte[5], 0)));
            TcpSegment reset = TestGuest.segment(served.guest.next());
            assertNotNull(reset);
            assertTrue(reset.is(TcpSegment.RST));
            assertEquals(99, reset.sequence());
        }
    }

    @Test
    void idleAndSilentConnectionsEnd() throws Exception {
        StackSettings hasty = StackSettings.DEFAULT.withTimes(
                Duration.ofMillis(300), Duration.ofMillis(300), Duration.ofMillis(500), Duration.ofMillis(300));
        try (var served =
                new Served(folder, GatewaySettings.DEFAULT.withStack(hasty), Served.Rules::new, OctetRelay.FACTORY)) {
            TestConnection guest = served.connect(40_000).awaitOpen();
            guest.awaitReset();
            served.guest.send(TestGuest.tcp(Served.SERVER, TestGuest.syn(40_001, served.port(), 5)));
            served.listener.await("they do not end", all -> all.ends().size() == 2);
            assertEquals(
                    List.of(FlowEnd.How.IDLE, FlowEnd.How.TIMED_OUT),
                    served.listener.ends().stream().map(FlowEnd::how).toList());
        }
    }

    /// The machine takes no frames: then none are read, and little waits.
    @Test
    void whatTheMachineDoesNotTakeIsNotGathered() throws Exception {
        try (var served = new Served(folder)) {
            TestConnection guest = served.connect(40_000).awaitOpen();
            Socket server = served.accepted();
            byte[] all = octets(served, 4 << 20);
            served.guest.pause(true);
            var pings = CompletableFuture.runAsync(() -> {
                try {
                    for (int i = 0; i < 100_000; i++) {
                        served.guest.send(TestGuest.tcp(
                                Served.SERVER, new TcpSegment(50_000, 9, i, 1, ACK, 0, 0, new byte[0], 0)));
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            var writing = CompletableFuture.runAsync(() -> {
                try {
                    server.getOutputStream().write(all);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            long waiting = served.onLoop(network -> network.bufferedOctets());
            assertTrue(waiting <= 256 << 10, "the gateway holds " + waiting);
            served.guest.pause(false);
            pings.get();
            writing.get();
            guest.awaitReceived(all.length);
            assertArrayEquals(all, guest.received());
        }
    }

    @Test
    void garbageIsCountedAndDropped() throws Exception {
        try (var served = new Served(folder)) {
            var random = Seeded.random("garbage");
            byte[] good = TestGuest.tcp(Served.SERVER, TestGuest.syn(40_000, 80, 1));
            served.guest.send(new byte[0], new byte[1], new byte[13], new byte[14], new byte[69_632]);
            for (int i = 0; i < 200; i++) {
                var frames = new byte[500][];
                for (int j = 0; j < frames.length; j++) {
                    frames[j] = random.nextInt(4) == 0 ? Seeded.octets(random, 200) : good.clone();
                    for (int changes = random.nextInt(6); changes > 0 && frames[j].length > 0; changes--) {
                        frames[j][random.nextInt(frames[j].length)] = (byte) random.nextInt();
                    }
                }
                served.guest.send(frames);
            }
            TestConnection honest = served.connect(39_999).awaitOpen();
            honest.send(new byte[] {1});
            assertTrue(served.listener.count(Finding.MALFORMED) > 0);
            assertTrue(served.listener.count(Finding.SOURCE_FORGED) > 0);
        }
    }

    /// What cannot be recorded must not happen: neither on a path that answers at once, nor on one that answers later.
    @Test
    void aListenerThatFailsEndsTheGateway() throws Exception {
        for (boolean atOnce : new boolean[] {true, false}) {
            TestGuest.Link link = TestGuest.link(folder, Seeded.random("listener"));
            var later = new CompletableFuture<Verdict>();
            EgressAuthority authority = new OctetsOnly() {
                @Override
                public CompletionStage<Verdict> name(String host, String type) {
                    return later;
                }

                @Override
                public CompletionStage<Verdict> connect(Destination destination) {
                    return atOnce ? CompletableFuture.completedFuture(Verdict.deny(null, "no")) : later;
                }

                @Override
                public Verdict address(Destination to, String address, @Nullable HostPort upstream) {
                    return Verdict.allow("any", "by address");
                }
            };
            GatewayListener failing = new TestListener() {
                @Override
                public synchronized void decided(Decision decision) {
                    throw new IllegalStateException("planted");
                }
            };
            try (var guest = link.guest();
                    var gateway = Gateway.start(link.gateway(), GatewaySettings.DEFAULT, authority, failing)) {
                guest.send(TestGuest.tcp(Served.SERVER, TestGuest.syn(40_000, 80, 1)));
                later.complete(Verdict.allow("rule", "yes"));
                var failure = assertThrows(IOException.class, gateway::awaitEnd);
                assertEquals("the guest's network could not be served to the end: planted", failure.getMessage());
            }
        }
    }

    /// The length is the machine's word. Without it nothing that follows can be read.
    @Test
    void aFrameLongerThanFramesAreEndsTheGateway() throws Exception {
        for (int length : new int[] {69_633, -1, Integer.MIN_VALUE}) {
            try (var served = new Served(folder)) {
                served.guest.sendRaw(ByteBuffer.allocate(4).putInt(length).flip());
                var failure = assertThrows(IOException.class, served.gateway::awaitEnd);
                assertEquals(
                        "the guest's network could not be served to the end: the machine sent a frame of "
                                + Integer.toUnsignedString(length) + " octets",
                        failure.getMessage());
            }
        }
    }
}
