package blackbox.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.FlowEnd;
import blackbox.gateway.egress.FlowEnd.How;
import blackbox.gateway.packet.TcpSegment;
import blackbox.gateway.stack.GuestNetwork;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a guest and a server say to each other arrives as it was said.
class RelayTest {
    @TempDir
    Path folder;

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Test
    void aConversationInBothDirections() throws Exception {
        try (var served = new Served(folder)) {
            TestConnection guest = served.connect(40_000).awaitOpen();
            Socket server = served.accepted();
            guest.send(text("hello"));
            assertArrayEquals(text("hello"), server.getInputStream().readNBytes(5));
            server.getOutputStream().write(text("world"));
            guest.awaitReceived(5);
            assertArrayEquals(text("world"), guest.received());
            guest.finish();
            assertEquals(-1, server.getInputStream().read());
            server.getOutputStream().write(text(", still"));
            server.close();
            guest.awaitFinished();
            assertArrayEquals(text("world, still"), guest.received(), "half-closed");
            served.listener.await(
                    "it has not ended", listener -> !listener.ends().isEmpty());
            FlowEnd end = served.listener.ends().getFirst();
            assertEquals(How.FINISHED, end.how());
            assertEquals(5, end.octetsOut());
            assertEquals(12, end.octetsIn());
            assertEquals("server", served.listener.decisions().getFirst().rule());
        }
    }

    /// Any octets, cut anywhere, both directions at once, and either side first to finish.
    @Test
    void whatArrivesIsWhatWasSent() throws Exception {
        try (var served = new Served(folder)) {
            for (int round = 0; round < 30; round++) {
                byte[] out = random(served, round);
                byte[] in = random(served, round);
                TestConnection guest = served.connect(41_000 + round)
                        .pieces(served.random.nextBoolean() ? 1_460 : 1 + served.random.nextInt(40_000))
                        .awaitOpen();
                Socket server = served.accepted();
                int most = 1 + served.random.nextInt(30_000);
                boolean guestFirst = served.random.nextBoolean();
                var writing = CompletableFuture.runAsync(() -> write(server, in, most));
                var reading = CompletableFuture.supplyAsync(() -> read(server));
                guest.send(out);
                if (guestFirst) {
                    guest.finish();
                }
                writing.get();
                guest.awaitReceived(in.length);
                if (guestFirst) {
                    assertArrayEquals(out, reading.get());
                    server.shutdownOutput();
                } else {
                    server.shutdownOutput();
                    guest.awaitFinished();
                    guest.finish();
                    assertArrayEquals(out, reading.get());
                }
                guest.awaitFinished();
                guest.awaitAcknowledged();
                assertArrayEquals(in, guest.received());
                assertFalse(guest.isReset());
                server.close();
            }
            served.listener.await(
                    "not all have ended", listener -> listener.ends().size() == 30);
            assertTrue(served.listener.ends().stream().allMatch(end -> end.how() == How.FINISHED));
            long held = served.onLoop(GuestNetwork::bufferedOctets);
            assertEquals(0, held);
            int open = served.onLoop(GuestNetwork::connectionCount);
            assertEquals(0, open);
        }
    }

    private static byte[] random(Served served, int round) {
        var octets = new byte[served.random.nextInt(round < 5 ? 10 : 400_000)];
        served.random.nextBytes(octets);
        return octets;
    }

    private static void write(Socket server, byte[] octets, int most) {
        try {
            for (int at = 0; at < octets.length; at += most) {
                server.getOutputStream().write(octets, at, Math.min(most, octets.length - at));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] read(Socket server) {
        try {
            return server.getInputStream().readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aResetOfEitherSideReachesTheOther() throws Exception {
        try (var served = new Served(folder)) {
            TestConnection first = served.connect(40_001).awaitOpen();
            Socket server = served.accepted();
            server.setSoLinger(true, 0);
            server.close();
            first.awaitReset();
            TestConnection second = served.connect(40_002).awaitOpen();
            Socket other = served.accepted();
            second.say(0, TcpSegment.RST, new byte[0]);
            var ended = new ArrayList<String>();
            try {
                ended.add("read " + other.getInputStream().read());
            } catch (IOException e) {
                ended.add(String.valueOf(e.getMessage()));
            }
            assertEquals("Connection reset", ended.getFirst());
            served.listener.await(
                    "they have not ended", listener -> listener.ends().size() == 2);
            assertEquals(How.RESET, served.listener.ends().get(0).how());
            assertEquals(How.RESET_BY_GUEST, served.listener.ends().get(1).how());
        }
    }
}
