package blackbox.replay.divergence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.divergence.Alignment.Outcome;
import blackbox.replay.divergence.EffectDifference.Kind;
import blackbox.replay.divergence.PlantedCausesTest.Deeds;
import blackbox.replay.divergence.RecordedEvents.Guest;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.divergence.cause.RunInputs;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.divergence.strand.AgreedPeers;
import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.row.Text;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// What counts as an effect, and what only as another path to the same effects.
final class LevelsTest {

    private static final LeftFiles SAME = _ -> new LeftFiles.Result(7, 1_000, 0, List.of(), false);
    private static final LeftFiles DIFFERENT = _ -> new LeftFiles.Result(
            6,
            900,
            1,
            List.of(new EffectDifference(Kind.FILE, "/workspace/log", "100 bytes", "100 other bytes")),
            false);

    private static final int O_WRONLY = 1;
    private static final int O_TRUNC = 01000;

    private static final Deeds NOTHING = (_, _) -> 0;
    private static final Deeds CURL = (events, shell) -> {
        Guest child = events.fork(shell, "curl");
        long index = events.exec(child, "/usr/bin/curl", "http://x/");
        events.exit(child, 0);
        return index;
    };

    private static Alignment align(Deeds recorded, Deeds actual, LeftFiles files) throws Exception {
        return align(recorded, actual, files, AlignmentSettings.of(3));
    }

    private static Alignment align(Deeds recorded, Deeds actual, LeftFiles files, AlignmentSettings settings)
            throws Exception {
        var one = new RecordedEvents(1).open();
        var other = new RecordedEvents(2).open();
        PlantedCausesTest.shell(one, recorded);
        PlantedCausesTest.shell(other, actual);
        return Divergences.align(
                new Side("one", one.source(), RunInputs.UNKNOWN),
                new Side("other", other.source(), RunInputs.UNKNOWN),
                files,
                settings);
    }

    private static void assertPath(Alignment alignment, long places) {
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertEquals(places, alignment.differences().path(), alignment::toString);
        assertEquals(0, alignment.differences().effects(), alignment::toString);
        assertNull(alignment.firstDivergence(), alignment::toString);
        assertNotNull(alignment.differences().firstPath(), alignment::toString);
    }

    private static void assertEffect(Alignment alignment, Kind kind, String subject) {
        assertEquals(Outcome.DIVERGED, alignment.outcome(), alignment::toString);
        assertNotNull(alignment.firstDivergence(), alignment::toString);
        EffectDifference first = alignment.differences().shownEffects().getFirst();
        assertEquals(kind, first.kind(), alignment::toString);
        assertEquals(subject, first.subject().replaceAll("\\[.*", ""), alignment::toString);
    }

    @Test
    void aLookMoreIsOfThePath() throws Exception {
        Deeds look = (events, shell) -> events.open(shell, "/etc/hosts");
        assertPath(align(NOTHING, look, LeftFiles.UNKNOWN), 1);
        assertPath(align(look, NOTHING, LeftFiles.UNKNOWN), 1);
        Deeds failed = (events, shell) -> events.open(shell, "/etc/no", -2);
        assertPath(align(NOTHING, failed, SAME), 1);
    }

    /// A pool of two threads, of which the first or the second one takes a task that the first has prepared.
    private static Deeds pool(boolean first, Deeds then) {
        return (events, shell) -> {
            Guest one = shell.thread(events.newPid());
            Guest other = shell.thread(events.newPid());
            for (Guest each : List.of(one, other)) {
                events.open(each, "/workspace/begun" + (each.equals(one) ? 1 : 2), 0);
            }
            events.create(one, "/workspace/task", RecordedEvents.WRITE_CREATE);
            events.write(first ? one : other, "/workspace/task", 7);
            return then.run(events, shell);
        };
    }

    @Test
    void aTaskThatAnotherThreadTakesIsOfThePathAndSaysSo() throws Exception {
        for (boolean first : new boolean[] {true, false}) {
            Alignment alignment = align(pool(first, NOTHING), pool(!first, NOTHING), SAME);
            assertPath(alignment, 2);
            DivergencePoint path =
                    Objects.requireNonNull(alignment.differences().firstPath());
            assertEquals(DivergenceClass.SCHED, path.reason(), path::toString);
            assertTrue(path.causes().getFirst().contains("took turns otherwise"), path::toString);
        }
    }

    /// As a loop does that is given its answers in another order.
    @Test
    void whatWasDoneInAnotherOrderIsSaid() throws Exception {
        Deeds one = (events, shell) -> {
            events.create(shell, "/workspace/first", RecordedEvents.WRITE_CREATE);
            return events.create(shell, "/workspace/second", RecordedEvents.WRITE_CREATE);
        };
        Deeds other = (events, shell) -> {
            events.create(shell, "/workspace/second", RecordedEvents.WRITE_CREATE);
            return events.create(shell, "/workspace/first", RecordedEvents.WRITE_CREATE);
        };
        Alignment alignment = align(one, other, SAME);
        DivergencePoint path = Objects.requireNonNull(alignment.differences().firstPath());
        assertEquals(DivergenceClass.UNEXPLAINED, path.reason(), path::toString);
        String causes = String.join("\n", path.causes());
        assertTrue(causes.contains("both sides did it, in another order"), causes);
    }

    /// What a pool does explains no effect beside it.
    @Test
    void aTaskThatAnotherThreadTakesExplainsNoEffect() throws Exception {
        Alignment program = align(pool(true, NOTHING), pool(false, CURL), SAME);
        assertEffect(program, Kind.PROGRAM, "curl");
        Alignment file = align(pool(true, NOTHING), pool(false, NOTHING), DIFFERENT);
        for (Alignment each : List.of(program, file)) {
            DivergencePoint first = Objects.requireNonNull(each.firstDivergence());
            assertEquals(DivergenceClass.UNEXPLAINED, first.reason(), first::toString);
        }
    }

    @Test
    void anotherProgramIsAnEffect() throws Exception {
        assertEffect(align(NOTHING, CURL, SAME), Kind.PROGRAM, "curl");
    }

    /// Connections to a peer, each with what was sent and received over it.
    private static Deeds connections(int peer, long... octets) {
        return (events, shell) -> {
            long index = 0;
            for (int i = 0; i < octets.length; i += 2) {
                int port = events.newPort();
                index = events.connect(shell, "10.0.2.2", peer, -115);
                events.hostFlow(port, "10.0.2.2", peer, 0, 0, "open");
                events.guestFlow(shell, port, "10.0.2.2", peer, octets[i], octets[i + 1]);
                events.hostFlow(port, "10.0.2.2", peer, octets[i], octets[i + 1], "closed");
            }
            return index;
        };
    }

    /// Only where the cassette knows that all octets were the recorded ones, and only for that peer.
    @Test
    void connectionsToAnAgreedPeerAreOfThePath() throws Exception {
        AlignmentSettings agreed =
                AlignmentSettings.of(3).with(new AgreedPeers(Set.of(new Endpoint("10.0.2.2", 8080)), Map.of()));
        Alignment alignment = align(connections(8080, 9, 7), connections(8080, 4, 3, 5, 4), SAME, agreed);
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertTrue(alignment.differences().path() > 0, alignment::toString);
        assertEquals(
                Outcome.DIVERGED,
                align(connections(8080, 9, 7), connections(8080, 4, 3, 5, 4), SAME)
                        .outcome());
        assertEquals(
                Outcome.DIVERGED,
                align(connections(8081, 9, 7), connections(8081, 4, 3, 5, 4), SAME, agreed)
                        .outcome());
        Deeds more = (events, shell) -> {
            connections(8080, 4, 3, 5, 4).run(events, shell);
            return events.exit(events.fork(shell, "more"), 3);
        };
        assertEquals(
                Outcome.DIVERGED,
                align(connections(8080, 9, 7), more, SAME, agreed).outcome(),
                "what else is done counts as before");
    }

    /// One look-up after the other, each by a socket of its own.
    private static Deeds lookups(String... names) {
        return (events, shell) -> {
            long index = 0;
            for (String name : names) {
                int port = events.newPort();
                index = events.dnsSocket(shell, port);
                events.dns(shell, name, "198.18.0.1");
                events.hostDns(port, name, "198.18.0.1");
            }
            return index;
        };
    }

    @Test
    void howOftenTheNameOfAnAgreedPeerIsLookedUpIsOfThePath() throws Exception {
        var peers = Set.of(new Endpoint("198.18.0.1", 443));
        var resolvers = Map.of(new Endpoint("10.0.2.3", 53), Set.of("api.test"));
        AlignmentSettings agreed = AlignmentSettings.of(3).with(new AgreedPeers(peers, resolvers));
        for (List<Deeds> each : List.of(
                List.of(lookups("api.test"), lookups("api.test", "api.test")),
                List.of(lookups("api.test", "api.test"), lookups("api.test")))) {
            Alignment alignment = align(each.getFirst(), each.getLast(), SAME, agreed);
            assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
            assertTrue(alignment.differences().path() > 0, alignment::toString);
            assertEffect(align(each.getFirst(), each.getLast(), SAME), Kind.NETWORK, "10.0.2.3:53");
        }
        assertEffect(
                align(lookups("api.test"), lookups("api.test", "secret.evil.test"), SAME, agreed),
                Kind.NETWORK,
                "secret.evil.test");
        AlignmentSettings without = AlignmentSettings.of(3)
                .with(new AgreedPeers(peers, Map.of(new Endpoint("10.0.2.4", 53), Set.of("api.test"))));
        assertEquals(
                Outcome.DIVERGED,
                align(lookups("api.test"), lookups("api.test", "api.test"), SAME, without)
                        .outcome(),
                "the resolver was sent something else, too");
    }

    /// How often the guest asks who has an address depends on how long it takes.
    @Test
    void framesOfTheLinkAreNotCompared() throws Exception {
        Deeds once = (events, _) -> arp(events, 42);
        Deeds twice = (events, _) -> arp(events, 84);
        Alignment alignment = align(once, twice, SAME);
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertEquals(0, alignment.differences().path(), alignment::toString);
    }

    private static long arp(RecordedEvents events, long octets) {
        return events.add(
                new Event.NetFlow(events.host(), "arp", null, null, null, octets, octets, 1L, 1L, "unfinished"));
    }

    /// A server on a port that the kernel chose, to which others on the same machine connect.
    private static Deeds server(long in, long out, int calledPort) {
        return (events, shell) -> {
            int port = events.newPort();
            events.bind(shell, port);
            long index = events.listen(shell, port);
            events.guestFlow(shell, port, "127.0.0.1", events.newPort(), 9, 3);
            events.guestFlow(shell, port, "127.0.0.1", events.newPort(), in, out);
            events.guestFlow(shell, events.newPort(), "127.0.0.1", calledPort == 0 ? port : calledPort, 3, 9);
            return index;
        };
    }

    @Test
    void whoCallsAServerDoesSoFromAnyPort() throws Exception {
        Alignment same = align(server(8, 2, 0), server(8, 2, 0), SAME);
        assertEquals(Outcome.EQUIVALENT, same.outcome(), same::toString);
        assertEquals(0, same.differences().path(), same::toString);
        assertEquals(
                Outcome.DIVERGED, align(server(8, 2, 0), server(8, 3, 0), SAME).outcome(), "other octets");
        assertEquals(
                Outcome.DIVERGED,
                align(server(8, 2, 0), server(8, 2, 50_000), SAME).outcome(),
                "another peer");
        assertEquals(
                Outcome.DIVERGED,
                align(server(8, 2, 50_000), server(8, 2, 50_001), SAME).outcome(),
                "from a port that nobody listens on");
        assertEquals(
                Outcome.DIVERGED,
                align(server(8, 2, 8_080), server(8, 2, 8_081), SAME).outcome());
    }

    @Test
    void aPortThatAProgramChoseIsCompared() throws Exception {
        Deeds chosen = (events, shell) -> events.bind(shell, 8_080);
        Deeds other = (events, shell) -> events.bind(shell, 8_081);
        assertEquals(Outcome.EQUIVALENT, align(chosen, chosen, SAME).outcome());
        assertEquals(Outcome.DIVERGED, align(chosen, other, SAME).outcome());
    }

    /// A program whose reader goes away, and how it ends.
    private static Deeds writer(int signal, int code) {
        return (events, shell) -> {
            var child = events.fork(shell, "seq");
            events.exec(child, "/usr/bin/seq", "1", "30");
            return signal == 0 ? events.exit(child, code) : events.killed(child, signal);
        };
    }

    @Test
    void whetherAPipeTookTheLastOctetsIsOfThePath() throws Exception {
        assertPath(align(writer(13, 0), writer(0, 0), SAME), 1);
        assertPath(align(writer(0, 0), writer(13, 0), SAME), 1);
        Deeds more = (events, shell) -> {
            var child = events.fork(shell, "seq");
            events.exec(child, "/usr/bin/seq", "1", "30");
            events.open(child, "/etc/hosts");
            return events.exit(child, 0);
        };
        assertPath(align(writer(13, 0), more, SAME), 1);
    }

    @Test
    void anyOtherEndIsAnEffect() throws Exception {
        int[][] ends = {{0, 0}, {0, 1}, {0, 141}, {9, 0}, {15, 0}, {13, 0}};
        for (int[] one : ends) {
            for (int[] other : ends) {
                boolean raced = one[0] + other[0] == 13 && one[1] + other[1] == 0;
                if (!Arrays.equals(one, other) && !raced) {
                    assertEffect(align(writer(one[0], one[1]), writer(other[0], other[1]), SAME), Kind.EXIT, "seq");
                }
            }
        }
        // What it would have done before its end is one, too.
        Deeds more = (events, shell) -> {
            var child = events.fork(shell, "seq");
            events.exec(child, "/usr/bin/seq", "1", "30");
            events.create(child, "/dev/shm/x", RecordedEvents.WRITE_CREATE);
            return events.exit(child, 0);
        };
        assertEffect(align(writer(13, 0), more, SAME), Kind.FILE, "/dev/shm/x");
        Deeds never = (events, shell) -> {
            var child = events.fork(shell, "seq");
            return events.exec(child, "/usr/bin/seq", "1", "30");
        };
        assertEffect(align(writer(13, 0), never, SAME), Kind.EXIT, "seq");
    }

    @Test
    void whatIsWrittenIsToldByTheFilesThatAreLeft() throws Exception {
        Deeds write = (events, shell) -> events.create(shell, "/workspace/log", RecordedEvents.WRITE_CREATE);
        assertPath(align(NOTHING, write, SAME), 1);
        assertEffect(align(NOTHING, write, LeftFiles.UNKNOWN), Kind.FILE, "/workspace/log");
        Alignment differs = align(NOTHING, write, DIFFERENT);
        assertEffect(differs, Kind.FILE, "/workspace/log");
        assertEquals(1, differs.differences().effects(), "once, though an event says so, too");
    }

    @Test
    void whatIsNotOnTheDiskIsAnEffect() throws Exception {
        Deeds write = (events, shell) -> events.create(shell, "/dev/shm/x", RecordedEvents.WRITE_CREATE);
        assertEffect(align(NOTHING, write, SAME), Kind.FILE, "/dev/shm/x");
        Deeds discard = (events, shell) -> open(events, shell, "/dev/null");
        assertPath(align(NOTHING, discard, SAME), 1);
        // What is written to a device leaves no event.
        Deeds raw = (events, shell) -> open(events, shell, "/dev/vdb");
        assertEffect(align(NOTHING, raw, SAME), Kind.FILE, "/dev/vdb");
        Deeds trick = (events, shell) -> events.create(shell, "/dev/nullx", RecordedEvents.WRITE_CREATE);
        assertEffect(align(NOTHING, trick, SAME), Kind.FILE, "/dev/nullx");
    }

    /// What is mounted there may not be the guest's disk.
    @Test
    void afterAMountWhatIsWrittenIsAnEffect() throws Exception {
        Deeds mount = (events, shell) ->
                events.add(new Event.PrivilegeUse(events.guest(shell), "mount", Text.of("/mnt"), "tmpfs", 0));
        Deeds write = (events, shell) -> {
            mount.run(events, shell);
            return events.create(shell, "/mnt/log", RecordedEvents.WRITE_CREATE);
        };
        assertEffect(align(mount, write, SAME), Kind.FILE, "/mnt/log");
    }

    /// The tracer cannot tell yet whose acts they are.
    @Test
    void aMountBeforeThereIsAnAgentDoesNotCount() throws Exception {
        Deeds write = (events, shell) -> events.create(shell, "/mnt/log", RecordedEvents.WRITE_CREATE);
        for (Actor first : List.of(Actor.SUPERVISOR, Actor.AGENT)) {
            Deeds early = (events, shell) -> {
                events.add(new Event.PrivilegeUse(events.guest(shell), "mount", Text.of("/proc/1"), "", 0));
                EventHeader header = events.guest(shell);
                var by = new EventHeader(
                        header.atNs(), header.source(), new GuestOrigin(0, 1, first), header.process(), header.marks());
                events.add(new Event.PrivilegeUse(by, "prctl", null, "", 0));
                return 0;
            };
            Deeds more = (events, shell) -> {
                early.run(events, shell);
                return write.run(events, shell);
            };
            if (first == Actor.SUPERVISOR) {
                assertPath(align(early, more, SAME), 1);
            } else {
                assertEffect(align(early, more, SAME), Kind.FILE, "/mnt/log");
            }
        }
    }

    @Test
    void aFileThatIsDifferentWithoutAnyEventIsADivergence() throws Exception {
        Deeds write = (events, shell) -> events.create(shell, "/workspace/log", RecordedEvents.WRITE_CREATE);
        Alignment alignment = align(write, write, DIFFERENT);
        assertEffect(alignment, Kind.FILE, "/workspace/log");
        DivergencePoint first = found(alignment.firstDivergence());
        assertEquals("/workspace/log: 100 bytes", first.expected());
        assertEquals("/workspace/log: 100 other bytes", first.actual());
    }

    private static long open(RecordedEvents events, RecordedEvents.Guest shell, String device) {
        return events.add(new Event.FileOpen(events.guest(shell), Text.of(device), O_WRONLY | O_TRUNC, null, false, 0));
    }

    /// A mere look, however often, is no effect.
    @Test
    void manyLooksAreOfThePath() throws Exception {
        Deeds looks = (events, shell) -> {
            long last = 0;
            for (int i = 0; i < 2_000; i++) {
                last = events.open(shell, "/proc/" + i + "/stat");
            }
            return last;
        };
        assertPath(align(NOTHING, looks, SAME), 1);
    }

    @Test
    void whereEventsAreMissingNothingIsConfirmed() throws Exception {
        Deeds lossy = (events, shell) -> {
            events.loss(3);
            return 0;
        };
        Alignment alignment = align(NOTHING, lossy, SAME);
        assertEquals(Outcome.INCOMPLETE, alignment.outcome(), alignment::toString);
    }

    @Test
    void lossesBeyondAnyCountAreAtLeast() throws Exception {
        Deeds lossy = (events, shell) -> {
            events.loss(Long.MAX_VALUE);
            events.loss(1);
            return 0;
        };
        Alignment alignment = align(NOTHING, lossy, SAME);
        assertTrue(
                alignment.notCompared().contains("other declares at least 9223372036854775807 events lost"),
                alignment::toString);
    }

    /// The effect is named, and what led to it is said.
    @Test
    void theEffectComesBeforeThePathToIt() throws Exception {
        Deeds left = (events, shell) -> branch(events, shell, "/etc/left");
        Deeds right = (events, shell) -> branch(events, shell, "/etc/right");
        Alignment alignment = align(left, right, SAME);
        assertEffect(alignment, Kind.PROGRAM, "tool");
        DivergencePoint first = found(alignment.firstDivergence());
        String causes = String.join("; ", first.causes());
        assertTrue(first.expected().contains("process.exec"), first::toString);
        assertTrue(causes.contains("the path had parted before"), first::toString);
        assertTrue(causes.contains("/etc/left"), first::toString);
    }

    private static long branch(RecordedEvents events, RecordedEvents.Guest shell, String file) {
        events.open(shell, file);
        var child = events.fork(shell, "tool");
        long index = events.exec(child, "/usr/bin/tool", file);
        events.exit(child, 0);
        return index;
    }

    private static <T> T found(@Nullable T value) {
        return Objects.requireNonNull(value);
    }
}
