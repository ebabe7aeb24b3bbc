package blackbox.replay.divergence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.divergence.Alignment.Outcome;
import blackbox.replay.divergence.PlantedCausesTest.Deeds;
import blackbox.replay.divergence.RecordedEvents.Guest;
import blackbox.replay.divergence.cause.RunInputs;
import blackbox.replay.divergence.cause.Side;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// How many flows are told of is a matter of ports and pauses; what they carried is not.
final class WholeFlowsTest {

    private static final LeftFiles SAME = _ -> new LeftFiles.Result(7, 1_000, 0, List.of(), false);
    private static final String SERVER = "10.0.2.7";
    private static final Endpoint RESOLVER = new Endpoint("10.0.2.3", 53);
    private static final Endpoint PEER = new Endpoint("10.0.2.9", 9);

    private static Alignment align(Deeds recorded, Deeds actual) throws Exception {
        return align(recorded, actual, AlignmentSettings.of(3));
    }

    private static Alignment align(Deeds recorded, Deeds actual, AlignmentSettings settings) throws Exception {
        var one = new RecordedEvents(1).open();
        var other = new RecordedEvents(2).open();
        PlantedCausesTest.shell(one, recorded);
        PlantedCausesTest.shell(other, actual);
        return Divergences.align(
                new Side("one", one.source(), RunInputs.UNKNOWN),
                new Side("other", other.source(), RunInputs.UNKNOWN),
                SAME,
                settings);
    }

    /// What the host tells of datagrams, at the beginning of a flow or at its end.
    private static void datagrams(RecordedEvents events, Endpoint peer, int local, long out, long in, String what) {
        var here = new Endpoint("10.0.2.15", local);
        long packets = out / 50;
        events.add(new Event.NetFlow(events.host(), "udp", here, peer, null, out, in, packets, packets, what));
    }

    /// What the guest tells of them.
    private static void sent(RecordedEvents events, Guest process, Endpoint peer, int local, long out, long in) {
        var here = new Endpoint("10.0.2.15", local);
        events.add(new Event.NetFlow(
                events.guest(process), "udp", here, peer, null, out, in, out / 50, in / 50, "unfinished"));
    }

    /// A program that asks the resolver a few times.
    ///
    /// @param ports what the kernel draws for each
    /// @param out octets of each question
    private static Deeds lookups(int[] ports, long[] out) {
        return (events, shell) -> {
            var told = new TreeMap<Integer, Long>();
            for (int i = 0; i < ports.length; i++) {
                if (told.merge(ports[i], out[i], Long::sum) == out[i]) {
                    datagrams(events, RESOLVER, ports[i], 0, 0, "open");
                }
                sent(events, shell, RESOLVER, ports[i], out[i], 2 * out[i]);
            }
            told.forEach((port, octets) -> datagrams(events, RESOLVER, port, octets, 2 * octets, "unfinished"));
            return 0;
        };
    }

    private static long[] each(long... octets) {
        return octets;
    }

    /// A connection that is quiet for more than a minute after so many octets.
    ///
    /// @param pauses octets out, each before a pause
    /// @param rest octets out after the last one
    private static Deeds connection(@Nullable String pause, long[] pauses, long rest) {
        return (events, _) -> {
            int port = events.newPort();
            long index = events.hostFlow(port, SERVER, 443, 0, 0, "open");
            for (long out : pauses) {
                events.hostFlow(port, SERVER, 443, out, 7, pause);
                events.hostFlow(port, SERVER, 443, 0, 0, "open");
            }
            events.hostFlow(port, SERVER, 443, rest, 9, "closed");
            return index;
        };
    }

    private static void assertWhole(Alignment alignment) {
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertEquals(0, alignment.differences().path(), alignment::toString);
        assertTrue(alignment.rules().contains("flows"), alignment::toString);
    }

    private static void assertDiverged(Alignment alignment) {
        assertEquals(Outcome.DIVERGED, alignment.outcome(), alignment::toString);
        assertEquals(
                EffectDifference.Kind.NETWORK,
                alignment.differences().shownEffects().getFirst().kind(),
                alignment::toString);
    }

    @Test
    void aPortThatTheKernelDrewTwiceIsNoDifference() throws Exception {
        Deeds twoPorts = lookups(new int[] {40_001, 40_002, 40_003}, each(58, 58, 60));
        Deeds onePort = lookups(new int[] {50_001, 50_002, 50_001}, each(58, 58, 60));
        assertWhole(align(twoPorts, onePort));
        assertWhole(align(onePort, twoPorts));
        Alignment same = align(twoPorts, lookups(new int[] {1, 2, 3}, each(58, 58, 60)));
        assertFalse(same.rules().contains("flows"), same::toString);
    }

    @Test
    void anotherNumberOfOctetsIsOne() throws Exception {
        Deeds twoPorts = lookups(new int[] {40_001, 40_002}, each(58, 60));
        assertDiverged(align(twoPorts, lookups(new int[] {50_001, 50_001}, each(58, 61))));
        assertDiverged(align(twoPorts, lookups(new int[] {50_001}, each(58))));
        assertWhole(align(twoPorts, lookups(new int[] {50_001, 50_002}, each(57, 61))));
    }

    /// Two processes that send to one peer.
    private static Deeds senders(long ofSensor, long ofUploader, boolean pauses) {
        return (events, shell) -> {
            Guest sensor = events.fork(shell, "sensor");
            events.exec(sensor, "/usr/bin/sensor");
            Guest uploader = events.fork(shell, "uploader");
            events.exec(uploader, "/usr/bin/uploader");
            sent(events, sensor, PEER, 40_001, ofSensor, 0);
            if (pauses) {
                sent(events, uploader, PEER, 40_002, ofUploader / 2, 0);
            }
            sent(events, uploader, PEER, 40_002, pauses ? ofUploader - ofUploader / 2 : ofUploader, 0);
            datagrams(events, PEER, 40_001, ofSensor + ofUploader, 0, "unfinished");
            events.exit(sensor, 0);
            events.exit(uploader, 0);
            return 0;
        };
    }

    @Test
    void whoSentDatagramsIsCompared() throws Exception {
        Deeds sent = senders(1_000, 10, false);
        assertWhole(align(sent, senders(1_000, 10, true)));
        assertDiverged(align(sent, senders(10, 1_000, false)));
        assertDiverged(align(sent, senders(10, 1_000, true)));
    }

    /// What a resolver sends late is read or not as chance has it; what others send is not.
    @Test
    void answersThatNobodyWaitedForAreNoDifference() throws Exception {
        for (Endpoint peer : List.of(RESOLVER, PEER)) {
            for (long read : new long[] {76, 152}) {
                for (long came : new long[] {152, 76}) {
                    Alignment alignment = align(answered(peer, 76, 152), answered(peer, read, came));
                    boolean same = peer.equals(RESOLVER) || read == 76 && came == 152;
                    assertEquals(
                            same ? Outcome.EQUIVALENT : Outcome.DIVERGED, alignment.outcome(), alignment::toString);
                }
            }
        }
    }

    private static Deeds answered(Endpoint peer, long read, long came) {
        return (events, shell) -> {
            int port = events.newPort();
            datagrams(events, peer, port, 0, 0, "open");
            sent(events, shell, peer, port, 120, read);
            datagrams(events, peer, port, 120, came, "unfinished");
            return 0;
        };
    }

    @Test
    void whatIsKnownOfAConnectionWithoutAnEndIsCompared() throws Exception {
        Deeds cut = (events, _) -> {
            int port = events.newPort();
            events.hostFlow(port, SERVER, 443, 100, 7, "idle");
            return events.hostFlow(port, SERVER, 443, 0, 0, "open");
        };
        for (long out : new long[] {100, 50}) {
            Deeds whole = (events, _) -> events.hostFlow(events.newPort(), SERVER, 443, out, 7, "closed");
            if (out == 100) {
                assertEquals(Outcome.EQUIVALENT, align(cut, whole).outcome());
            } else {
                assertDiverged(align(cut, whole));
            }
        }
    }

    @Test
    void aConnectionThatWasQuietIsOne() throws Exception {
        Deeds whole = (events, _) -> {
            int port = events.newPort();
            long index = events.hostFlow(port, SERVER, 443, 0, 0, "open");
            events.hostFlow(port, SERVER, 443, 600, 23, "closed");
            return index;
        };
        for (String pause : List.of("idle", "evicted")) {
            Deeds inParts = connection(pause, each(100, 200), 300);
            assertWhole(align(inParts, whole));
            assertWhole(align(whole, inParts));
            assertWhole(align(inParts, connection(pause, each(250, 50), 300)));
            assertDiverged(align(connection(pause, each(100, 200), 301), whole));
        }
        assertDiverged(align(connection("closed", each(100, 200), 300), whole));
    }

    @Test
    void oneThatStaysQuietEndsThere() throws Exception {
        Deeds quiet = (events, _) -> {
            int port = events.newPort();
            long index = events.hostFlow(port, SERVER, 443, 0, 0, "open");
            events.hostFlow(port, SERVER, 443, 100, 7, "idle");
            return index;
        };
        Deeds atTheEnd = (events, _) -> {
            int port = events.newPort();
            long index = events.hostFlow(port, SERVER, 443, 0, 0, "open");
            events.hostFlow(port, SERVER, 443, 100, 7, "unfinished");
            return index;
        };
        Alignment alignment = align(quiet, atTheEnd);
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertFalse(alignment.rules().contains("flows"), alignment::toString);
        assertDiverged(align(quiet, connection("idle", each(100), 300)));
    }

    @Test
    void anExactReplayHasTheSameParts() throws Exception {
        Deeds twoPorts = lookups(new int[] {40_001, 40_002}, each(58, 58));
        Deeds onePort = lookups(new int[] {40_001, 40_001}, each(58, 58));
        Alignment alignment = align(twoPorts, onePort, new AlignmentSettings(0, 3, true));
        assertEquals(Outcome.DIVERGED, alignment.outcome(), alignment::toString);
    }
}
