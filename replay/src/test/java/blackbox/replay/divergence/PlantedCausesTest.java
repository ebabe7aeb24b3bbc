package blackbox.replay.divergence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.divergence.Alignment.Outcome;
import blackbox.replay.divergence.RecordedEvents.Guest;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.divergence.cause.RunInputs;
import blackbox.replay.divergence.cause.RunInputs.Input;
import blackbox.replay.divergence.cause.Side;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.row.Text;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// A build that unpacks its workspace, runs a shell, fetches and writes; each test plants one cause and says
/// at which event it must be found and as what.
class PlantedCausesTest {

    static final String SERVICE = "10.0.2.2";
    static final RunInputs GIVEN = new RunInputs(Map.of(
            Input.IMAGE,
            "430c",
            Input.SNAPSHOT,
            "5774",
            Input.QEMU,
            "1493",
            Input.MACHINE,
            "q35",
            Input.COMMAND,
            "[sh, build.sh]",
            Input.ENVIRONMENT,
            "[]",
            Input.WORKSPACE,
            "e650"));

    /// What a side's shell does; returns the index of the event that is to be found.
    @FunctionalInterface
    interface Deeds {
        long run(RecordedEvents events, Guest shell);
    }

    private static RunInputs given(Input input, String value) {
        var values = new EnumMap<Input, String>(GIVEN.values());
        values.put(input, value);
        return new RunInputs(values);
    }

    record Planted(Alignment alignment, long index, long actualIndex) {

        DivergencePoint first() {
            DivergencePoint first = alignment.firstDifference();
            assertNotNull(first, alignment::toString);
            return first;
        }

        Planted is(DivergenceClass reason) {
            DivergencePoint first = first();
            assertEquals(reason, first.reason(), first::toString);
            assertEquals(index, first.index(), first::toString);
            if (actualIndex >= 0) {
                assertEquals(actualIndex, first.actualIndex(), first::toString);
            }
            return this;
        }

        Planted isOfClass(DivergenceClass reason) {
            assertEquals(reason, first().reason(), first()::toString);
            return this;
        }

        Planted saying(String words) {
            String causes = String.join("\n", first().causes());
            assertTrue(causes.contains(words), () -> "nothing about '" + words + "' in:\n" + causes);
            return this;
        }
    }

    static Planted plant(Deeds recorded, Deeds actual) throws Exception {
        return plant(recorded, GIVEN, actual, GIVEN, AlignmentSettings.of(99));
    }

    static Planted plant(
            Deeds recorded, RunInputs given, Deeds actual, RunInputs givenActual, AlignmentSettings settings)
            throws Exception {
        var one = new RecordedEvents(1).open();
        var other = new RecordedEvents(2).open();
        long index = shell(one, recorded);
        long actualIndex = shell(other, actual);
        Alignment alignment = Divergences.align(
                new Side("one", one.source(), given),
                new Side("other", other.source(), givenActual),
                LeftFiles.UNKNOWN,
                settings);
        return new Planted(alignment, index, actualIndex);
    }

    /// Unpacks, runs the deeds in a shell, and closes.
    static long shell(RecordedEvents events, Deeds deeds) {
        unpack(events, 120);
        Guest shell = start(events, List.of("PATH", "HOME"));
        long index = deeds.run(events, shell);
        events.tracerHeartbeat();
        events.exit(shell, 0);
        events.close();
        return index;
    }

    static long unpack(RecordedEvents events, long bytes) {
        Guest tar = events.fork(events.init, "tar");
        events.exec(tar, "/usr/bin/tar", "-x", "-C", "/workspace");
        long index = events.writeFile(tar, "/workspace/config", bytes);
        events.exit(tar, 0);
        return index;
    }

    static Guest start(RecordedEvents events, List<String> environment) {
        Guest shell = events.fork(events.init, "sh");
        events.exec(shell, environment, "/usr/bin/dash", "build.sh");
        events.readFile(shell, "/workspace/build.sh", 300);
        return shell;
    }

    /// A branch that was taken one way or the other.
    static long branch(RecordedEvents events, Guest shell, String way) {
        long index = events.create(shell, "/workspace/out-" + way, RecordedEvents.WRITE_CREATE);
        events.write(shell, "/workspace/out-" + way, 10);
        return index;
    }

    static Deeds branchAfter(Deeds before, String way) {
        return (events, shell) -> {
            before.run(events, shell);
            return branch(events, shell, way);
        };
    }

    static long nothing(RecordedEvents events, Guest shell) {
        return events.open(shell, "/workspace/build.sh");
    }

    @Test
    void deterministicRunsHaveNone() throws Exception {
        Deeds deeds = branchAfter(PlantedCausesTest::nothing, "left");
        Alignment alignment = plant(deeds, deeds).alignment();
        assertNull(alignment.firstDivergence());
        assertEquals(Outcome.EQUIVALENT, alignment.outcome());
        assertEquals(List.of("process-numbers"), alignment.rules());
    }

    @Test
    void threadsOfTheKernelComeAndGo() throws Exception {
        Deeds deeds = branchAfter(PlantedCausesTest::nothing, "left");
        Deeds withWorker = (events, shell) -> {
            Guest kthreadd = new Guest(2, 2, 0, 1, "kthreadd");
            Guest worker = events.fork(kthreadd, "kthreadd");
            long index = deeds.run(events, shell);
            events.exit(worker, 0);
            return index;
        };
        assertEquals(Outcome.EQUIVALENT, plant(deeds, withWorker).alignment().outcome());
        Deeds withOneThatWasThereBefore = (events, shell) -> {
            events.add(new Event.ProcessExit(events.guest(new ProcessRef(7, 7, null, 5, null, null)), 0, null));
            return deeds.run(events, shell);
        };
        assertEquals(
                Outcome.EQUIVALENT,
                plant(deeds, withOneThatWasThereBefore).alignment().outcome());
        Deeds withHelper = (events, shell) -> {
            Guest kthreadd = new Guest(2, 2, 0, 1, "kthreadd");
            long index = events.exec(events.fork(kthreadd, "kworker"), "/usr/bin/helper");
            deeds.run(events, shell);
            return index;
        };
        assertEquals(Outcome.DIVERGED, plant(deeds, withHelper).alignment().outcome());
    }

    @Test
    void anotherImage() throws Exception {
        plant(
                        branchAfter(PlantedCausesTest::nothing, "left"),
                        GIVEN,
                        branchAfter(PlantedCausesTest::nothing, "right"),
                        given(Input.IMAGE, "ffff"),
                        AlignmentSettings.of(1))
                .is(DivergenceClass.IMAGE)
                .saying("the image differs: 430c in one, ffff in other");
    }

    @Test
    void anotherSnapshot() throws Exception {
        plant(
                        branchAfter(PlantedCausesTest::nothing, "left"),
                        GIVEN,
                        branchAfter(PlantedCausesTest::nothing, "right"),
                        given(Input.SNAPSHOT, "0000"),
                        AlignmentSettings.of(1))
                .is(DivergenceClass.SNAPSHOT);
    }

    @Test
    void anotherQemu() throws Exception {
        plant(
                        branchAfter(PlantedCausesTest::nothing, "left"),
                        GIVEN,
                        branchAfter(PlantedCausesTest::nothing, "right"),
                        given(Input.QEMU, "2222"),
                        AlignmentSettings.of(1))
                .is(DivergenceClass.ENGINE);
    }

    @Test
    void anEngineThatDoesNotReproduce() throws Exception {
        plant(
                        branchAfter(PlantedCausesTest::nothing, "left"),
                        GIVEN,
                        branchAfter(PlantedCausesTest::nothing, "right"),
                        GIVEN,
                        new AlignmentSettings(3, 5, true))
                .is(DivergenceClass.ENGINE)
                .saying("did not reproduce");
    }

    @Test
    void aFileOfTheWorkspaceThatIsLonger() throws Exception {
        var one = new RecordedEvents(1).open();
        var other = new RecordedEvents(2).open();
        long index = unpack(one, 120);
        long actualIndex = unpack(other, 121);
        for (RecordedEvents each : List.of(one, other)) {
            branch(each, start(each, List.of("PATH")), each == one ? "left" : "right");
            each.close();
        }
        Alignment alignment = Divergences.align(
                new Side("one", one.source(), GIVEN),
                new Side("other", other.source(), given(Input.WORKSPACE, "aaaa")),
                LeftFiles.UNKNOWN,
                AlignmentSettings.of(3));
        new Planted(alignment, index, actualIndex)
                .is(DivergenceClass.IMAGE)
                .saying("the file /workspace/config of the workspace already differs when it is unpacked");
    }

    @Test
    void aFileOfTheWorkspaceWithDifferentContent() throws Exception {
        Deeds reads = (events, shell) -> events.readFile(shell, "/workspace/config", 120);
        plant(
                        branchAfter(reads, "left"),
                        GIVEN,
                        branchAfter(reads, "right"),
                        given(Input.WORKSPACE, "aaaa"),
                        AlignmentSettings.of(3))
                .is(DivergenceClass.IMAGE)
                .saying("/workspace/config")
                .saying("likely");
    }

    @Test
    void aFileThatIsMissing() throws Exception {
        plant(
                        (events, shell) -> events.open(shell, "/opt/licence", 0),
                        (events, shell) -> events.open(shell, "/opt/licence", -2))
                .is(DivergenceClass.IMAGE)
                .saying("the file /opt/licence could be opened on only one side");
    }

    @Test
    void aFileThatIsLonger() throws Exception {
        plant(
                        (events, shell) -> events.readFile(shell, "/opt/table", 100),
                        (events, shell) -> events.readFile(shell, "/opt/table", 200))
                .is(DivergenceClass.IMAGE)
                .saying("the file /opt/table gave 200 bytes instead of 100");
    }

    @Test
    void anotherEnvironment() throws Exception {
        var one = new RecordedEvents(1).open();
        var other = new RecordedEvents(2).open();
        long index = 0;
        for (RecordedEvents each : List.of(one, other)) {
            unpack(each, 120);
            Guest shell = each.fork(each.init, "sh");
            index = each.exec(shell, List.of("PATH", each == one ? "A" : "B"), "/usr/bin/dash", "build.sh");
            branch(each, shell, each == one ? "left" : "right");
            each.close();
        }
        Alignment alignment = Divergences.align(
                new Side("one", one.source(), given(Input.ENVIRONMENT, "[A]")),
                new Side("other", other.source(), given(Input.ENVIRONMENT, "[B]")),
                LeftFiles.UNKNOWN,
                AlignmentSettings.of(3));
        new Planted(alignment, index, -1).is(DivergenceClass.IMAGE).saying("environment");
    }

    static Deeds fetches(int port, long answer, String ending) {
        return (events, shell) -> {
            Guest curl = events.fork(shell, "curl");
            events.exec(curl, "/usr/bin/curl", "http://10.0.2.2:8080/");
            int local = events.newPort();
            events.connect(curl, SERVICE, port, 0);
            events.hostFlow(local, SERVICE, port, 0, 0, "open");
            events.create(curl, "/workspace/answer", RecordedEvents.WRITE_CREATE);
            long index = events.write(curl, "/workspace/answer", Math.max(answer, 1));
            events.guestFlow(curl, local, SERVICE, port, 80, answer);
            events.exit(curl, 0);
            events.hostFlow(local, SERVICE, port, 80, answer, ending);
            return index;
        };
    }

    @Test
    void anotherResponse() throws Exception {
        plant(fetches(8080, 500, "closed"), fetches(8080, 501, "closed"))
                .is(DivergenceClass.NET_DIFF)
                .saying("delivered 501 bytes (closed) instead of 500 (closed)");
    }

    @Test
    void aResponseThatDoesNotCome() throws Exception {
        plant(fetches(8080, 500, "closed"), fetches(8080, 0, "reset"))
                .is(DivergenceClass.NET_MISS)
                .saying("nobody answered");
    }

    @Test
    void aPeerThatRefuses() throws Exception {
        plant(
                        (events, shell) -> events.connect(shell, SERVICE, 8080, 0),
                        (events, shell) -> events.connect(shell, SERVICE, 8080, -111))
                .is(DivergenceClass.NET_MISS);
    }

    @Test
    void aRequestThatTheRecordingDoesNotAnswer() throws Exception {
        plant(fetches(8080, 500, "closed"), (events, shell) -> {
                    events.add(new Event.NetMiss(events.host(), "CONNECT", "{}"));
                    Guest curl = events.fork(shell, "curl");
                    events.exec(curl, "/usr/bin/curl", "http://10.0.2.2:8080/");
                    int local = events.newPort();
                    events.connect(curl, SERVICE, 8080, 0);
                    events.hostFlow(local, SERVICE, 8080, 0, 0, "open");
                    long index = events.exit(curl, 7);
                    events.hostFlow(local, SERVICE, 8080, 80, 0, "reset");
                    return index;
                })
                .saying("the recording has no answer");
    }

    /// However much the run used the network before.
    @Test
    void aRequestAfterTheDivergenceIsNotItsCause() throws Exception {
        Deeds asks = (events, shell) -> {
            events.dns(shell, "example.test", "192.0.2.1");
            return events.connect(shell, SERVICE, 8080, 0);
        };
        plant(branchAfter(asks, "left"), (events, shell) -> {
                    asks.run(events, shell);
                    long index = branch(events, shell, "right");
                    events.add(new Event.NetMiss(events.host(), "CONNECT", "{}"));
                    return index;
                })
                .is(DivergenceClass.UNEXPLAINED);
    }

    @Test
    void anotherDnsAnswer() throws Exception {
        plant(
                        (events, shell) -> events.dns(shell, "example.test", "192.0.2.1"),
                        (events, shell) -> events.dns(shell, "example.test", "192.0.2.2"))
                .is(DivergenceClass.NET_DIFF)
                .saying("answered differently");
    }

    static Deeds runs(String program, String opens) {
        return (events, shell) -> {
            Guest child = events.fork(shell, program);
            events.exec(child, "/usr/bin/" + program);
            events.open(child, opens);
            return events.exit(child, 0);
        };
    }

    @Test
    void aRandomNumberDecides() throws Exception {
        Deeds od = runs("od", "/dev/urandom");
        plant(branchAfter(od, "left"), branchAfter(od, "right"))
                .is(DivergenceClass.RANDOM)
                .saying("/dev/urandom");
    }

    private static Deeds threads(boolean firstWins) {
        return (events, shell) -> {
            Guest one = shell.thread(events.newPid());
            Guest two = shell.thread(events.newPid());
            for (Guest each : firstWins ? List.of(one, two) : List.of(two, one)) {
                events.open(each, each.equals(one) ? "/workspace/one" : "/workspace/two");
                events.create(each, "/workspace/shared", RecordedEvents.WRITE_CREATE);
                events.write(each, "/workspace/shared", each.equals(one) ? 5 : 7);
            }
            return branch(events, shell, firstWins ? "left" : "right");
        };
    }

    @Test
    void threadsThatRace() throws Exception {
        plant(threads(true), threads(false))
                .is(DivergenceClass.SCHED)
                .saying("accessed the same file in the opposite order");
    }

    @Test
    void threadsThatTakeTurnsDifferentlyAreNoDivergence() throws Exception {
        Deeds one = (events, shell) -> {
            threads(true).run(events, shell);
            return 0;
        };
        Deeds other = (events, shell) -> {
            Guest second = shell.thread(events.newPid());
            Guest first = shell.thread(events.newPid());
            for (Guest each : List.of(second, first)) {
                events.open(each, each.equals(first) ? "/workspace/one" : "/workspace/two");
                events.create(each, "/workspace/shared", RecordedEvents.WRITE_CREATE);
                events.write(each, "/workspace/shared", each.equals(first) ? 5 : 7);
            }
            return branch(events, shell, "left");
        };
        Alignment alignment = plant(one, other).alignment();
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertEquals(List.of("process-numbers", "interleaving"), alignment.rules());
    }

    @Test
    void siblingsThatRaceForAFile() throws Exception {
        plant((events, shell) -> siblings(events, shell, true), (events, shell) -> siblings(events, shell, false))
                .is(DivergenceClass.SCHED);
    }

    private static long siblings(RecordedEvents events, Guest shell, boolean firstWins) {
        Guest one = events.fork(shell, "one");
        Guest two = events.fork(shell, "two");
        events.exec(one, "/usr/bin/one");
        events.exec(two, "/usr/bin/two");
        for (Guest each : firstWins ? List.of(one, two) : List.of(two, one)) {
            events.create(each, "/workspace/log", RecordedEvents.WRITE_CREATE);
            events.write(each, "/workspace/log", each.equals(one) ? 3 : 4);
            events.exit(each, 0);
        }
        return branch(events, shell, firstWins ? "left" : "right");
    }

    @Test
    void aGapInTheRecord() throws Exception {
        Deeds lossy = (events, shell) -> {
            events.loss(3);
            return branch(events, shell, "right");
        };
        plant(branchAfter(PlantedCausesTest::nothing, "left"), (events, shell) -> {
                    nothing(events, shell);
                    return lossy.run(events, shell);
                })
                .is(DivergenceClass.RECORDER_GAP)
                .saying("(3 events)");
    }

    @Test
    void aRecordThatEndsEarlyIsIncomplete() throws Exception {
        var one = new RecordedEvents(1).open();
        var other = new RecordedEvents(2).open();
        shell(one, branchAfter(PlantedCausesTest::nothing, "left"));
        unpack(other, 120);
        nothing(other, start(other, List.of("PATH", "HOME")));
        Alignment alignment = Divergences.align(
                new Side("one", one.source(), GIVEN),
                new Side("other", other.source(), GIVEN),
                LeftFiles.UNKNOWN,
                AlignmentSettings.of(3));
        assertEquals(Outcome.INCOMPLETE, alignment.outcome(), alignment::toString);
        assertTrue(alignment.notCompared().toString().contains("other was not closed"), alignment::toString);
    }

    @Test
    void whatNoEventExplainsIsUnexplained() throws Exception {
        plant(branchAfter(PlantedCausesTest::nothing, "left"), branchAfter(PlantedCausesTest::nothing, "right"))
                .is(DivergenceClass.UNEXPLAINED)
                .saying("nothing that was recorded explains it")
                .saying("values of environment variables");
    }

    @Test
    void readsAndWritesInDifferentPortionsAreTheSame() throws Exception {
        Deeds whole = (events, shell) -> {
            events.create(shell, "/workspace/log", RecordedEvents.WRITE_CREATE);
            nothing(events, shell);
            return events.add(io(events, shell, 10, 3));
        };
        Deeds portions = (events, shell) -> {
            events.create(shell, "/workspace/log", RecordedEvents.WRITE_CREATE);
            events.add(io(events, shell, 4, 1));
            nothing(events, shell);
            return events.add(io(events, shell, 6, 2));
        };
        Alignment alignment = plant(whole, portions).alignment();
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertTrue(alignment.rules().contains("folded-reads-and-writes"), alignment::toString);
    }

    private static Event io(RecordedEvents events, Guest shell, long bytes, long writes) {
        return new Event.FileIo(events.guest(shell), Text.of("/workspace/log"), 0, bytes, 0, writes, 0L, bytes, null);
    }
}
