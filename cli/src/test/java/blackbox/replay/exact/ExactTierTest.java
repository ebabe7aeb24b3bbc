package blackbox.replay.exact;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.evidence.trust.ReplayNote.Outcome;
import blackbox.node.record.Installation;
import blackbox.node.record.LoopbackServices;
import blackbox.node.replay.DebugReport;
import blackbox.node.replay.DebugSession;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunState;
import blackbox.recorder.guest.TracerReport;
import blackbox.replay.ReplayException;
import blackbox.replay.capture.Payload;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.compare.EventTape;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.inputs.InputCheck;
import blackbox.replay.inputs.SealedStart;
import blackbox.replay.landing.ExactLanding;
import blackbox.replay.seek.FrameLookup;
import blackbox.replay.seek.Seeker;
import blackbox.replay.seek.Seekers;
import blackbox.replay.tier.ReplayRequest;
import blackbox.replay.verdict.Refusal;
import blackbox.replay.verdict.Verdict;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.row.Column;
import blackbox.vm.ScratchFolder;
import blackbox.vm.replay.ReplayCheckpoints;
import blackbox.vm.replay.SteppedMachine;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A run that uses the clock, randomness, threads, a name server and a web server, recorded in the exact
/// tier; then all servers stop.
class ExactTierTest {
    private static final long SEED = 20_261_122;
    private static final int PLACES = Integer.getInteger("blackbox.places", 15);
    private static final int CUTS = Integer.getInteger("blackbox.cuts", 6);
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final String WORK = """
            import hashlib, os, threading, time
            print(time.time_ns(), time.monotonic_ns(), os.getrandom(16).hex())
            with open('/dev/urandom', 'rb') as random:
                print(random.read(16).hex())
            order = []
            def work(name):
                for i in range(100):
                    order.append(name)
                    hashlib.sha256(b'x' * 2000).digest()
                    with open('file%d-%d' % (name, i), 'w') as file:
                        file.write(str(i))
            threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            print(hashlib.sha256(bytes(order)).hexdigest())
            """;

    @TempDir
    static Path folder;

    private static Installation blackbox;
    private static Recordings recordings;
    private static RunFacts facts;
    private static LoopbackServices.Watched watched;

    @BeforeAll
    static void record() throws Exception {
        blackbox = Installation.in(folder);
        var services = new LoopbackServices();
        String[] words = {
            "record",
            "--json",
            "--tier",
            "exact",
            "--network",
            "user",
            "--env",
            "PAGES=/first,/last",
            "--",
            "python3",
            "-c",
            WORK + services.client()
        };
        Installation.Ended ended = blackbox.run(words).expect(0);
        assertTrue(ended.out().contains("served /first"), ended::out);
        assertEquals("exact", ended.recorded().path("tier").asText());
        recordings = Recordings.unchecked(blackbox.data());
        facts = RunFacts.read(recordings, new RunId(ended.recorded().path("run").asText()));
        services.close();
        watched = services.watch();
    }

    @AfterAll
    static void nobodyCameToWhereTheServersWere() throws Exception {
        assertEquals(0, watched.heard(), "a replay got out to the host's loopback");
        watched.close();
    }

    private static InputCheck.Result check(RunFacts of) throws Exception {
        return new InputCheck(recordings, of.run(), SealedStart.of(of), null).check(new ExactReplayer().captures());
    }

    private static ReplayRequest request(RunFacts of) throws Exception {
        var ready = assertInstanceOf(InputCheck.Ready.class, check(of));
        return new ReplayRequest(recordings, of, SealedStart.of(of), ready.inputs());
    }

    @Test
    void twentyOfTwentyReplaysAreIdentical() throws Exception {
        var replayer = new ExactReplayer();
        ReplayRequest request = request(facts);
        assertEquals(List.of(), replayer.check(request));
        for (int i = 1; i <= 20; i++) {
            Verdict verdict = replayer.replay(request, line -> {});
            assertEquals(Outcome.IDENTICAL, verdict.outcome(), "replay " + i + ": " + verdict);
            assertTrue(verdict.comparison().events() > 400, verdict::toString);
            for (String stream : List.of("events", "frames-out", "frames-in", "console", "stdio")) {
                assertTrue(
                        verdict.comparison().compared().stream().anyMatch(each -> each.startsWith(stream + ", ")),
                        verdict::toString);
            }
        }
    }

    @Test
    void theCommandSignsItsVerdict() throws Exception {
        Installation.Ended ended =
                blackbox.run("replay", facts.run().value(), "--json").expect(0);
        JsonNode json = ended.json();
        assertEquals("exact", json.path("tier").asText(), ended::out);
        assertEquals("IDENTICAL", json.path("verdict").asText(), ended::out);
        assertEquals(0, json.path("egressPackets").asInt(-1), ended::out);
    }

    @Test
    void oneChangedOctetOfWhatItIsMadeFromIsRefused() throws Exception {
        Path captures = recordings.captureFolder(facts.run());
        for (String name : List.of(
                CaptureName.LOG.text(),
                CaptureName.EVENTS.text(),
                CaptureName.CONSOLE.text(),
                CaptureName.STDIO.text())) {
            Path stored = Payload.of(recordings, facts.run(), name).file();
            assertEquals(name + ".enc", String.valueOf(stored.getFileName()));
            assertEquals(DivergenceClass.RECORDER_GAP, refusedWith(stored), name);
            assertEquals(DivergenceClass.RECORDER_GAP, refusedWithTheKey(name), name);
        }
        for (String name : List.of(CaptureName.RAM.text(), CaptureName.DEVICES.text(), CaptureName.BASE.text())) {
            // They are the warm snapshot's own files under another name: a copy takes their place here.
            Path kept = captures.resolve(name);
            Path aside = captures.resolve(name + ".aside");
            Files.move(kept, aside);
            Files.copy(aside, kept);
            assertTrue(kept.toFile().setWritable(true, true));
            assertEquals(DivergenceClass.SNAPSHOT, refusedWith(kept), name);
            Files.delete(kept);
            Files.move(aside, kept);
        }
        assertInstanceOf(InputCheck.Ready.class, check(facts));
    }

    @Test
    void anotherMachineIsRefused() throws Exception {
        ReplayRequest request = request(facts);
        List<String> argv = request.start().argv();
        var moreMemory =
                argv.stream().map(word -> word.equals("1024") ? "2048" : word).toList();
        var oneDeviceLess = new ArrayList<>(argv);
        int device = argv.indexOf("-device");
        oneDeviceLess.subList(device, device + 2).clear();
        for (List<String> other : List.of(moreMemory, oneDeviceLess)) {
            assertNotEquals(argv, other);
            SealedStart start = request.start();
            var sealed = new SealedStart(
                    start.tier(),
                    start.imageName(),
                    start.image(),
                    start.snapshot(),
                    start.workspace(),
                    start.qemu(),
                    other);
            var refusals = new ExactReplayer().check(new ReplayRequest(recordings, facts, sealed, request.inputs()));
            assertEquals(1, refusals.size(), refusals::toString);
            assertEquals(DivergenceClass.ENGINE, refusals.getFirst().kind());
        }
    }

    /// Flips an octet in the middle of `file`, returns the class of the refusal, and flips it back.
    private static DivergenceClass refusedWith(Path file) throws Exception {
        long at = Files.size(file) / 2;
        flip(file, at);
        try {
            var refused = assertInstanceOf(InputCheck.Refused.class, check(facts), file::toString);
            assertEquals(1, refused.refusals().size(), refused::toString);
            Refusal refusal = refused.refusals().getFirst();
            assertTrue(refusal.mend().contains("captures/"), refusal::toString);
            return refusal.kind();
        } finally {
            flip(file, at);
        }
    }

    /// The same by somebody who has the key: the octet is changed in what is encrypted.
    private static DivergenceClass refusedWithTheKey(String name) throws Exception {
        Payload payload = Payload.of(recordings, facts.run(), name);
        byte[] before = Files.readAllBytes(payload.file());
        byte[] octets;
        try (InputStream in = payload.stream()) {
            octets = in.readAllBytes();
        }
        octets[octets.length / 2] ^= 1;
        Files.write(recordings.captureFolder(facts.run()).resolve(name), octets);
        payload.vault().encrypt(facts.run(), _ -> {});
        try {
            var refused = assertInstanceOf(InputCheck.Refused.class, check(facts), name);
            Refusal refusal = refused.refusals().getFirst();
            assertTrue(refusal.toString().contains("is not what was sealed"), refusal::toString);
            return refusal.kind();
        } finally {
            Files.write(payload.file(), before);
        }
    }

    private static void flip(Path file, long at) throws IOException {
        try (var channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            channel.read(one, at);
            one.put(0, (byte) (one.get(0) ^ 1)).rewind();
            channel.write(one, at);
        }
    }

    @Test
    void aCutLogIsReplayedUpToTheCut() throws Exception {
        ReplayRequest request = request(facts);
        var random = new Random(SEED);
        SealedCapture log = request.inputs().captures().get(CaptureName.LOG.text());
        assertNotNull(log);
        for (int i = 0; i < CUTS; i++) {
            long cut = 1 + random.nextLong(log.sealedBytes() - 1);
            try (var tape = new EventTape(folder.resolve("tapes"))) {
                var replay = new ExactReplay(request, ExactReplayer.recording(request), tape, line -> {}, cut);
                ExactReplay.Result result = replay.run(TracerReport.NONE);
                String what = "seed " + SEED + ", cut at " + cut + ": " + result;
                assertNotNull(result.stalled(), what);
                assertTrue(result.stalled().startsWith("the replay log was cut"), what);
                assertTrue(result.extent().bytes() <= cut && !result.extent().end(), what);
            }
        }
    }

    /// A machine's state at an event does not depend on how it got there: by resuming from a stored machine
    /// nearby and jumping, or in one replay from the start that stops at each event's instruction in turn.
    @Test
    void aSeekToAnEventReachesTheStateThatAReplayFromTheStartPasses() throws Exception {
        ReplayRequest request = request(facts);
        Seeker seeker = Seekers.open(request, line -> {});
        var states = new TreeMap<Long, Long>();
        int fromKept = 0;
        long first = FrameLookup.at(recordings, facts.run(), firstOfTheRun()).seq();
        for (long index :
                new Random(SEED).longs(PLACES, 1, facts.events()).sorted().toArray()) {
            FrameLookup event = FrameLookup.at(recordings, facts.run(), index);
            if (event.seq() < first) {
                continue;
            }
            var session = seeker.seek(event.seq());
            try (SteppedMachine machine = session.machine()) {
                assertEquals(session.position(), machine.position(), event::toString);
                states.put(session.position(), MachineState.of(machine));
                fromKept += machine.beganAt() > 0 ? 1 : 0;
            }
        }
        assertTrue(
                states.size() >= PLACES * 4 / 5 && fromKept >= PLACES * 2 / 5,
                states.size() + " places, " + fromKept + " from kept ones");
        SealedCapture log = request.inputs().captures().get(CaptureName.LOG.text());
        assertNotNull(log);
        try (InputStream whole = log.open();
                var machine = SteppedMachine.open(blackbox.data(), ExactReplayer.recording(request), whole)) {
            for (var place : states.entrySet()) {
                assertTrue(machine.runTo(place.getKey(), PATIENCE));
                assertEquals(
                        place.getValue(), MachineState.of(machine), "seed " + SEED + ", instruction " + place.getKey());
            }
            assertTrue(machine.finish(PATIENCE));
            try (InputStream recorded =
                            capture(request, CaptureName.EVENTS.text()).open();
                    InputStream replayed = Files.newInputStream(machine.capture(CaptureName.EVENTS.text()))) {
                assertNull(StreamMatch.of("events", recorded, replayed).fault());
            }
        }
    }

    /// What the guest had sent into its ring when the snapshot was made comes first in every run from it,
    /// and no instruction of the run emits it.
    @Test
    void whatHappenedInTheSnapshotCannotBeSoughtTo() throws Exception {
        ReplayRequest request = request(facts);
        Seeker seeker = Seekers.open(request, line -> {});
        long first = firstOfTheRun();
        FrameLookup frame = FrameLookup.at(recordings, facts.run(), 1);
        assertTrue(frame.index() < first, frame::line);
        // Events of the host may stand between two frames.
        for (; frame.index() < first; frame = behind(frame)) {
            long seq = frame.seq();
            var refused = assertThrows(ReplayException.class, () -> seeker.seek(seq));
            assertEquals(ReplayException.Code.BAD_INPUT, refused.code());
            assertTrue(String.valueOf(refused.getMessage()).contains("before the run's first instruction"));
        }
        var paused = seeker.seek(FrameLookup.at(recordings, facts.run(), first).seq());
        try (SteppedMachine machine = paused.machine()) {
            assertTrue(machine.position() > 0);
        }
    }

    private FrameLookup behind(FrameLookup frame) throws Exception {
        return Objects.requireNonNull(FrameLookup.behind(recordings, facts.run(), frame.index(), null));
    }

    /// The index of the tracer's first heartbeat, which it sends when the run begins.
    private long firstOfTheRun() throws Exception {
        try (RunReader reader = RunReader.open(recordings, facts.run(), 0)) {
            while (reader.next()) {
                if (reader.row().number(Column.KIND) == Kind.TRACER_HEARTBEAT.code()) {
                    return reader.index();
                }
            }
        }
        throw new AssertionError("no heartbeat");
    }

    /// An interrupted pass resumes where its last machine was stored, and a damaged machine is not used.
    @Test
    void anUnfinishedIndexIsCompletedAndADamagedMachineIsNotUsed() throws Exception {
        ReplayRequest request = request(facts);
        var other = new RunId("0".repeat(26));
        Path index = blackbox.data().resolve("replays").resolve(other.value()).resolve("index");
        var streams = new Seeker.Streams(
                capture(request, CaptureName.LOG.text()), capture(request, CaptureName.EVENTS.text()), emits());
        var recording = ExactReplayer.recording(request);
        var ended = new Seeker(blackbox.data(), other, recording, streams, line -> {
            Thread.currentThread().interrupt(); // as soon as something is stored
        });
        assertThrows(ReplayException.class, ended::indexAll);
        assertTrue(Thread.interrupted());
        NavigableSet<Long> begun = ReplayCheckpoints.open(index).positions();
        assertFalse(begun.isEmpty());
        Path places = index.resolve("index.json");
        Files.delete(places); // the pass begins again, and finds the places that the machines need
        var goesOn = new Seeker(blackbox.data(), other, recording, streams, line -> {});
        assertTrue(goesOn.indexAll());
        assertFalse(goesOn.indexAll());
        assertTrue(ReplayCheckpoints.open(index).positions().containsAll(begun));
        JsonNode first =
                new ObjectMapper().readTree(places.toFile()).path("places").path(0);
        assertTrue(first.path(1).asLong() <= begun.first(), first::toString);
        FrameLookup last = FrameLookup.at(recordings, facts.run(), facts.events());
        var whole = goesOn.seek(last.seq());
        whole.machine().close();

        // If no stored machine can be used, the seek takes longer and reaches the same place.
        try (Stream<Path> machines = Files.list(index)) {
            for (Path file :
                    machines.filter(each -> each.toString().contains("at-")).toList()) {
                flip(file, Files.size(file) / 2);
            }
        }
        var damaged = new Seeker(blackbox.data(), other, recording, streams, line -> {}).seek(last.seq());
        assertEquals(whole.position(), damaged.position());
        assertEquals(0, damaged.machine().beganAt());
        damaged.machine().close();
    }

    /// QEMU may lose its place in the log and then waits forever; here it is made to wait.
    @Test
    void whenAMachineStallsAnotherTakesOver() throws Exception {
        ReplayRequest request = request(facts);
        var said = new ArrayList<String>();
        var stopped = new AtomicReference<ProcessHandle>();
        var streams = new Seeker.Streams(
                capture(request, CaptureName.LOG.text()), capture(request, CaptureName.EVENTS.text()), emits());
        var other = new RunId("1".repeat(26));
        var seeker = new Seeker(blackbox.data(), other, ExactReplayer.recording(request), streams, line -> {
            said.add(line);
            if (stopped.get() == null) {
                ProcessHandle qemu = ProcessHandle.current()
                        .descendants()
                        .filter(Installation::isQemu)
                        .findFirst()
                        .orElseThrow();
                stopped.set(qemu);
                assertEquals(0, signal(qemu, "STOP"));
            }
        });
        assertTrue(seeker.indexAll());
        ProcessHandle gone = stopped.get();
        assertNotNull(gone, said::toString);
        assertFalse(gone.isAlive());
        assertTrue(said.stream().anyMatch(line -> line.contains("trying again with another machine")), said::toString);
        assertTrue(Seeker.isIndexed(blackbox.data(), other));
    }

    private static int signal(ProcessHandle process, String name) {
        try {
            return new ProcessBuilder("kill", "-" + name, "" + process.pid())
                    .start()
                    .waitFor();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static SealedCapture capture(ReplayRequest request, String name) {
        return Objects.requireNonNull(request.inputs().captures().get(name));
    }

    private static long emits() throws IOException {
        try (RunReader reader = RunReader.open(recordings, facts.run(), 1)) {
            assertTrue(reader.next());
            return RunFacts.detailOf(reader.row())
                    .path("emitAddress")
                    .bigIntegerValue()
                    .longValue();
        }
    }

    @Test
    void servingIndexesAheadAndEndsWhenItIsTold() throws Exception {
        Path index =
                blackbox.data().resolve("replays").resolve(facts.run().value()).resolve("index");
        ScratchFolder.delete(index);
        Installation.Running serving = blackbox.start("serve", "--listen", "127.0.0.1:0");
        await(serving, serving.err(), "run " + facts.run() + " is indexed");
        serving.process().destroy();
        assertTrue(serving.process().waitFor(60, TimeUnit.SECONDS));
        assertFalse(Seekers.open(request(facts), line -> {}).indexAll(), "the index exists already");
    }

    @Test
    void aDebugSessionAnswersAndComesBack() throws Exception {
        ReplayRequest request = request(facts);
        long index = facts.events() / 2;
        var printed = new StringWriter();
        String asked = "registers\nprocesses\nconsole\noutput\nnext\nnext process.exit\nback 1\nprocesses\nto " + index;
        try (var session = DebugSession.at(
                new ExactLanding(request),
                index,
                new DebugReport(new PrintWriter(printed), DebugReport.Form.JSON),
                line -> {})) {
            session.answer(new BufferedReader(new StringReader(asked)), "");
        }
        List<String> lines = printed.toString().lines().toList();
        JsonNode first = new ObjectMapper().readTree(lines.getFirst());
        JsonNode last = new ObjectMapper().readTree(lines.getLast());
        assertEquals(first.path("instruction"), last.path("instruction"), "there and back: " + lines);
        assertEquals(first.path("index"), last.path("index"));
        assertTrue(printed.toString().contains("process.exit"), lines::toString);
        assertEquals(asked.lines().count() + 1, lines.size(), "a document for each command");
        assertTrue(lines.get(1).startsWith("{\"registers\":{\"rax\":\""), lines::toString);
        assertTrue(lines.get(8).contains("not at an event"), lines::toString);
    }

    @Test
    void theCommandLandsAndAnswers() throws Exception {
        var builder =
                new ProcessBuilder(Installation.command("replay", facts.run().value(), "--to", "400", "--json"));
        Path asked = Files.writeString(
                folder.resolve("asked"),
                "registers\nmemory 0 16\nfrobnicate\nto " + (facts.events() - 1) + "\noutput\nfinish\n");
        Installation.Ended ended =
                blackbox.start(builder.redirectInput(asked.toFile())).await().expect(2); // frobnicate
        List<String> lines = ended.out().lines().toList();
        assertEquals(
                "exact",
                new ObjectMapper().readTree(lines.getFirst()).path("tier").asText(),
                ended::out);
        assertTrue(ended.out().contains("\"rip\":\""), ended::out);
        assertTrue(ended.out().contains("nothing is mapped at 0"), ended::out);
        assertTrue(ended.out().contains("there is no command 'frobnicate'"), ended::out);
        // The last event is the host's.
        JsonNode there = new ObjectMapper().readTree(lines.get(4));
        assertEquals(facts.events() - 1, there.path("asked").asLong());
        assertTrue(there.path("index").asLong() < there.path("asked").asLong(), there::toString);
        assertTrue(lines.get(5).contains("served /first"), lines::toString);
        assertEquals("{\"finished\":true}", lines.getLast());
    }

    private static Installation.Running recording(String script) throws Exception {
        return blackbox.start("record", "--json", "--tier", "exact", "--", "bash", "-c", script);
    }

    private static void assertReplayedToTheCut(RunFacts killed) throws Exception {
        Verdict verdict = new ExactReplayer().replay(request(killed), line -> {});
        assertEquals(Outcome.INCOMPLETE, verdict.outcome(), verdict::toString);
        String message = verdict.message();
        assertTrue(message != null && message.startsWith("the replay log was cut"), verdict::toString);
    }

    @Test
    void aKilledRecordingIsReplayedAsFarAsItWent() throws Exception {
        Installation.Running running = recording("echo begun; for i in $(seq 1000000); do :; done; sleep 600");
        await(running, running.out(), "begun");
        ProcessHandle qemu = running.qemu();
        assertTrue(qemu.destroyForcibly());
        qemu.onExit().join();
        Installation.Ended ended = running.await();
        assertReplayedToTheCut(
                RunFacts.read(recordings, new RunId(ended.recorded().path("run").asText())));
    }

    @Test
    void aRecordingWhoseRecorderWasKilledIsReplayedAsFarAsItIsSealed() throws Exception {
        Installation.Running running =
                recording("echo begun; while :; do for i in $(seq 100000); do :; done; echo more; done");
        await(running, running.out(), "more\nmore\nmore\nmore");
        ProcessHandle qemu = running.qemu();
        running.process().destroyForcibly().waitFor();
        qemu.onExit().join(); // it ends with its recorder
        RunId id = newestRun();
        RunFacts killed = RunFacts.read(recordings, id);
        assertEquals(RunState.TRUNCATED, killed.state());
        assertReplayedToTheCut(killed);
        FrameLookup middle = FrameLookup.at(recordings, id, killed.events() / 2);
        try (var session =
                Seekers.open(request(killed), line -> {}).seek(middle.seq()).machine()) {
            assertTrue(session.position() > 0);
        }
    }

    private static RunId newestRun() throws IOException {
        try (Stream<Path> folders = Files.list(blackbox.data().resolve("captures"))) {
            return new RunId(folders.map(folder -> folder.getFileName().toString())
                    .max(Comparator.naturalOrder())
                    .orElseThrow());
        }
    }

    private static void await(Installation.Running running, Path file, String words) throws Exception {
        while (!Files.readString(file).contains(words)) {
            assertTrue(running.process().isAlive(), () -> "it ended before it said '" + words + "'");
            boolean unused = running.process().waitFor(50, TimeUnit.MILLISECONDS);
        }
    }
}
