package blackbox.replay.divergence;

import static blackbox.replay.divergence.PlantedCausesTest.GIVEN;
import static blackbox.replay.divergence.PlantedCausesTest.branch;
import static blackbox.replay.divergence.PlantedCausesTest.branchAfter;
import static blackbox.replay.divergence.PlantedCausesTest.plant;
import static blackbox.replay.divergence.PlantedCausesTest.runs;
import static blackbox.replay.divergence.PlantedCausesTest.shell;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.divergence.Alignment.Outcome;
import blackbox.replay.divergence.PlantedCausesTest.Deeds;
import blackbox.replay.divergence.RecordedEvents.Guest;
import blackbox.replay.divergence.cause.Causes;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.divergence.cause.UneventfulCauses;
import blackbox.replay.divergence.cause.UneventfulCauses.Octets;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Text;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// Two programs that race: where the outcome differs, both racing events are named, and where it is the same,
/// nothing is. Three ideas are from Hermit's flaky tests: bind, hello_race, cas_sequence.
class RacesTest {
    private static final int EEXIST = -17;
    private static final int ENOENT = -2;
    private static final int EADDRINUSE = -98;
    private static final int ECONNREFUSED = -111;
    private static final int SIGPIPE = 13;

    /// Two children, of which the one or the other comes first.
    @FunctionalInterface
    private interface Racing {
        /// @param first whether the one is first
        void run(RecordedEvents events, Guest one, Guest other, boolean first);
    }

    private static Deeds race(Racing racing, boolean first) {
        return (events, shell) -> {
            Guest one = events.fork(shell, "one");
            Guest other = events.fork(shell, "other");
            events.exec(one, "/usr/bin/one");
            events.exec(other, "/usr/bin/other");
            racing.run(events, one, other, first);
            return 0;
        };
    }

    private static void assertRace(Racing racing, String one, String other) throws Exception {
        plant(race(racing, true), race(racing, false))
                .isOfClass(DivergenceClass.SCHED)
                .saying(one)
                .saying(other);
        plant(race(racing, false), race(racing, true))
                .isOfClass(DivergenceClass.SCHED)
                .saying(one)
                .saying(other);
        for (boolean first : new boolean[] {true, false}) {
            Alignment same = plant(race(racing, first), race(racing, first)).alignment();
            assertEquals(Outcome.EQUIVALENT, same.outcome(), same::toString);
        }
    }

    private static void takePort(RecordedEvents events, Guest who, Kind call, int ret) {
        events.add(new Event.NetCall(events.guest(who), call, "tcp", new Endpoint("127.0.0.1", 8080), null, null, ret));
        events.exit(who, ret == 0 ? 0 : 1);
    }

    /// Only one of two gets a port: by bind, or by listen where both have set SO_REUSEADDR.
    @Test
    void bind() throws Exception {
        for (Kind call : List.of(Kind.NET_BIND, Kind.NET_LISTEN)) {
            assertRace(
                    (events, one, other, first) -> {
                        takePort(events, first ? one : other, call, 0);
                        takePort(events, first ? other : one, call, EADDRINUSE);
                    },
                    "%-20sone[".formatted(call.eventName()),
                    "%-20sother[".formatted(call.eventName()));
        }
    }

    private static void connect(RecordedEvents events, Guest who, int ret) {
        events.connect(who, "127.0.0.1", 8080, ret);
        events.exit(who, ret == 0 ? 0 : 1);
    }

    /// A client that does not wait for its server.
    @Test
    void connectBeforeListen() throws Exception {
        assertRace(
                (events, client, server, first) -> {
                    if (first) {
                        connect(events, client, ECONNREFUSED);
                        events.listen(server, 8080);
                    } else {
                        events.listen(server, 8080);
                        connect(events, client, 0);
                    }
                    events.exit(server, 0);
                },
                "net.connect         one[",
                "net.listen          other[");
    }

    private static void lock(RecordedEvents events, Guest who, int ret) {
        events.add(new Event.FileOpen(
                events.guest(who), Text.of("/workspace/lock"), RecordedEvents.EXCLUSIVE, 0644, ret == 0, ret));
        events.exit(who, ret == 0 ? 0 : 1);
    }

    @Test
    void aLockFile() throws Exception {
        assertRace(
                (events, one, other, first) -> {
                    lock(events, first ? one : other, 0);
                    lock(events, first ? other : one, EEXIST);
                },
                "one[",
                "other[");
    }

    @Test
    void readBeforeWrite() throws Exception {
        assertRace(
                (events, reader, writer, first) -> {
                    if (first) {
                        events.open(reader, "/workspace/made", ENOENT);
                        events.exit(reader, 1);
                    }
                    events.create(writer, "/workspace/made", RecordedEvents.WRITE_CREATE);
                    if (!first) {
                        events.open(reader, "/workspace/made", 0);
                        events.exit(reader, 0);
                    }
                    events.exit(writer, 0);
                },
                "file.open           one[",
                "file.open           other[");
    }

    /// `git log | head`, in a script that used a random number long before.
    @Test
    void aReaderThatClosesItsPipeEarly() throws Exception {
        Racing pipeline = (events, git, head, first) -> {
            if (first) {
                events.exit(git, 0);
                events.exit(head, 0);
            } else {
                events.exit(head, 0);
                events.add(new Event.ProcessExit(events.guest(git), null, SIGPIPE));
            }
        };
        assertRace(pipeline, "process.exit        one[", "process.exit        other[");
        Deeds od = runs("od", "/dev/urandom");
        plant(after(od, race(pipeline, true)), after(od, race(pipeline, false)))
                .isOfClass(DivergenceClass.SCHED)
                .saying("SIGPIPE");
    }

    private static Deeds after(Deeds before, Deeds then) {
        return (events, shell) -> {
            before.run(events, shell);
            return then.run(events, shell);
        };
    }

    private static Side side(RecordedEvents events, Deeds deeds) {
        shell(events.open(), deeds);
        return new Side("a side", events.source(), GIVEN);
    }

    private static Causes.Found printed(Deeds recorded, Deeds actual, Octets octets) throws Exception {
        return new UneventfulCauses(
                        new KeyedHash(7), side(new RecordedEvents(1), recorded), side(new RecordedEvents(2), actual))
                .ofOutput(octets);
    }

    private static void assertRace(Causes.Found found, String one, String other) {
        assertEquals(DivergenceClass.SCHED, found.reason(), found::toString);
        String causes = String.join("\n", found.causes());
        assertTrue(causes.contains(one) && causes.contains(other), causes);
    }

    /// Two programs that greet, each once.
    @Test
    void helloRace() throws Exception {
        Racing hello = (events, one, other, first) -> {
            events.exit(first ? one : other, 0);
            events.exit(first ? other : one, 0);
        };
        var turned = new Octets("hello one\nhello other\n", "hello other\nhello one\n", 0, true);
        assertRace(printed(race(hello, true), race(hello, false), turned), " one[", " other[");
        // Who came first is not what made them greet otherwise.
        var other = new Octets("hello one\n", "good bye\n", 0, false);
        assertEquals(
                DivergenceClass.UNEXPLAINED,
                printed(race(hello, true), race(hello, false), other).reason());
        assertEquals(
                DivergenceClass.UNEXPLAINED,
                printed(race(hello, true), race(hello, true), turned).reason());
    }

    /// Threads that exchange a value in memory; what they did to it is printed at the end.
    @Test
    void casSequence() throws Exception {
        var turned = new Octets("1 2 1 2", "1 1 2 2", 0, true);
        assertRace(printed(threads(true), threads(false), turned), "/workspace/first", "/workspace/second");
        Alignment same = plant(threads(true), threads(false)).alignment();
        assertEquals(Outcome.EQUIVALENT, same.outcome(), same::toString);
    }

    private static Deeds threads(boolean first) {
        return (events, shell) -> {
            Guest one = shell.thread(events.newPid());
            Guest two = shell.thread(events.newPid());
            for (Guest each : first ? List.of(one, two) : List.of(two, one)) {
                events.open(each, each.equals(one) ? "/workspace/first" : "/workspace/second");
            }
            return events.open(shell, "/etc/done");
        };
    }

    /// Both write to one log; no event says in which order what they wrote came there.
    @Test
    void twoWritersOfOneLog() throws Exception {
        Racing log = (events, one, other, first) -> {
            for (Guest each : first ? List.of(one, other) : List.of(other, one)) {
                events.create(each, "/workspace/log", 02001);
                events.write(each, "/workspace/log", each.equals(one) ? 3 : 4);
            }
            events.exit(one, 0);
            events.exit(other, 0);
        };
        LeftFiles differs = _ -> new LeftFiles.Result(
                6,
                900,
                1,
                List.of(new EffectDifference(EffectDifference.Kind.FILE, "/workspace/log", "onetwo", "twoone")),
                false);
        Alignment alignment = Divergences.align(
                side(new RecordedEvents(1), race(log, true)),
                side(new RecordedEvents(2), race(log, false)),
                differs,
                AlignmentSettings.of(3));
        DivergencePoint first = Objects.requireNonNull(alignment.firstDivergence());
        assertRace(new Causes.Found(first.reason(), first.causes()), " one[", " other[");
    }

    /// Two that write to one database: each has its transactions between the other's, and what it read and
    /// wrote in all is known when it closes the file.
    @Test
    void twoWritersOfOneDatabase() throws Exception {
        Racing database = (events, one, other, first) -> {
            for (Guest each : List.of(one, other)) {
                events.create(each, "/workspace/db", 02);
            }
            Guest leading = first ? one : other;
            Guest following = first ? other : one;
            for (Guest each : List.of(leading, following, leading, following)) {
                events.create(each, "/workspace/db-journal", RecordedEvents.WRITE_CREATE);
                events.unlink(each, "/workspace/db-journal");
            }
            events.write(one, "/workspace/db", first ? 5 : 9);
            events.exit(one, 0);
            events.write(other, "/workspace/db", first ? 9 : 5);
            events.exit(other, 0);
        };
        assertRace(ofWriters(database, true, false), " one[", " other[");
        Causes.Found same = ofWriters(database, true, true);
        assertEquals(DivergenceClass.UNEXPLAINED, same.reason(), same::toString);
    }

    /// One after the other is no race, whatever differs.
    @Test
    void oneWriterAfterTheOther() throws Exception {
        Racing after = (events, one, other, first) -> {
            for (Guest each : first ? List.of(one, other) : List.of(other, one)) {
                Guest child = events.fork(each, "child");
                events.exec(child, "/usr/bin/child", each.comm());
                events.create(child, "/workspace/db", 02);
                events.write(child, "/workspace/db", first ? 5 : 9);
                events.exit(child, 0);
            }
            events.exit(one, 0);
            events.exit(other, 0);
        };
        Causes.Found found = ofWriters(after, true, false);
        assertEquals(DivergenceClass.UNEXPLAINED, found.reason(), found::toString);
    }

    private static Causes.Found ofWriters(Racing racing, boolean first, boolean then) throws Exception {
        LeftFiles differs = _ -> new LeftFiles.Result(
                6, 900, 1, List.of(new EffectDifference(EffectDifference.Kind.FILE, "/workspace/db", "a", "b")), false);
        Alignment alignment = Divergences.align(
                side(new RecordedEvents(1), race(racing, first)),
                side(new RecordedEvents(2), race(racing, then)),
                differs,
                AlignmentSettings.of(3));
        DivergencePoint point = Objects.requireNonNull(alignment.firstDivergence());
        return new Causes.Found(point.reason(), point.causes());
    }

    /// A random number that was used for something else, or whose like a digest is.
    @Test
    void aRandomNumberThatReachedNothing() throws Exception {
        Deeds read = (events, shell) -> {
            runs("od", "/dev/urandom").run(events, shell);
            Guest cat = events.fork(shell, "cat");
            events.exec(cat, "/usr/bin/cat", "/workspace/config");
            events.readFile(cat, "/workspace/config", 120);
            return events.exit(cat, 0);
        };
        plant(branchAfter(read, "left"), branchAfter(read, "right"))
                .isOfClass(DivergenceClass.UNEXPLAINED)
                .saying("nothing shows that it made the difference");
        // Commits that were made in another second.
        plant(
                        branchAfter(read, "5f0c1d2e3b4a59687766554433221100ffeeddcc"),
                        branchAfter(read, "a1b2c3d4e5f60718293a4b5c6d7e8f9001122334"))
                .isOfClass(DivergenceClass.UNEXPLAINED);
        plant(
                        branchAfter(read, "0b8ed1a6-79bb-4b1e-9e0c-6b1f5b1f2c3d"),
                        branchAfter(read, "f47ac10b-58cc-4372-a567-0e02b2c3d479"))
                .isOfClass(DivergenceClass.RANDOM)
                .saying("/dev/urandom");
        // The same, where no random number was read.
        plant(
                        branchAfter(PlantedCausesTest::nothing, "0b8ed1a6-79bb-4b1e-9e0c-6b1f5b1f2c3d"),
                        branchAfter(PlantedCausesTest::nothing, "f47ac10b-58cc-4372-a567-0e02b2c3d479"))
                .isOfClass(DivergenceClass.UNEXPLAINED);
    }

    @Test
    void aRandomNumberThatWasPrinted() throws Exception {
        var octets = new Octets("token 8Fq2LmZ0aX\n", "token t5W9cRb1Ke\n", 0, false);
        Deeds od = runs("od", "/dev/urandom");
        assertEquals(DivergenceClass.RANDOM, printed(od, od, octets).reason());
        Deeds none = PlantedCausesTest::nothing;
        assertEquals(DivergenceClass.UNEXPLAINED, printed(none, none, octets).reason());
        var late = new Octets("at 12:00:01 token 8Fq2LmZ0aX", "at 12:00:02 token t5W9cRb1Ke", 18, false);
        assertEquals(DivergenceClass.RANDOM, printed(od, od, late).reason());
        var words = new Octets("the answer is yes\n", "the answer is no\n", 0, false);
        assertEquals(DivergenceClass.UNEXPLAINED, printed(od, od, words).reason());
    }

    /// Another argument beside the time: it is not the clock that made it.
    @Test
    void aTimeBesideWhatDiffers() throws Exception {
        Deeds left = (events, shell) -> branch(events, shell, "left-" + events.nowNs() / 1_000_000_000);
        Deeds right = (events, shell) -> branch(events, shell, "right-" + events.nowNs() / 1_000_000_000);
        plant(left, right).isOfClass(DivergenceClass.UNEXPLAINED);
    }
}
