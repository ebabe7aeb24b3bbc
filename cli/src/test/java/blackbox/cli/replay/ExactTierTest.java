package blackbox.cli.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.record.Installation;
import blackbox.query.store.Recordings;
import blackbox.query.store.RunFacts;
import blackbox.query.store.RunState;
import blackbox.replay.Moment;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.divergence.DivergenceClass;
import blackbox.replay.exact.LogExtent;
import blackbox.replay.inputs.InputCheck;
import blackbox.replay.inputs.SealedStart;
import blackbox.replay.tier.ReplayRequest;
import blackbox.replay.verdict.Refusal;
import blackbox.replay.verdict.Verdict;
import blackbox.schemas.RunId;
import blackbox.schemas.trust.ReplayNote.Outcome;
import blackbox.vm.machine.ReplayMachine;
import blackbox.vm.machine.SteppedMachine;
import blackbox.vm.machine.VmRequest;
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
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A run that uses the clock, randomness, threads, a name server and a web server, recorded in the exact tier; then all
/// servers stop.
class ExactTierTest {
    private static final long SEED = 20_261_122;
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
        recordings = new Recordings(blackbox.data());
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
        for (String name : List.of(VmRequest.LOG, VmRequest.EVENTS, VmRequest.CONSOLE, VmRequest.STDIO)) {
            assertEquals(DivergenceClass.RECORDER_GAP, refusedWith(captures.resolve(name)), name);
        }
        for (String name : List.of(VmRequest.RAM, VmRequest.DEVICES, VmRequest.BASE)) {
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

    /// Flips an octet in the middle of `file`, asks what that is called, and flips it back.
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
        SealedCapture log = request.inputs().captures().get(VmRequest.LOG);
        assertNotNull(log);
        for (int i = 0; i < 10; i++) {
            long cut = 1 + random.nextLong(log.sealedBytes() - 1);
            try (var tape = new EventTape(folder.resolve("tapes"))) {
                var replay = new ExactReplay(request, ExactReplayer.recording(request), tape, line -> {}, cut);
                ExactReplay.Result result = replay.run(List.of());
                String what = "seed " + SEED + ", cut at " + cut + ": " + result;
                assertNotNull(result.stalled(), what);
                assertTrue(result.stalled().startsWith("the replay log was cut"), what);
                assertTrue(result.extent().bytes() <= cut && !result.extent().end(), what);
            }
        }
    }

    /// What a machine is at an instruction does not depend on how it came there: in one replay that stops at every
    /// place in turn, or in a fresh one that goes on from what was kept at an earlier place.
    @Test
    void aPlaceIsTheSameHoweverItIsReached() throws Exception {
        ReplayRequest request = request(facts);
        ReplayMachine.Recording recording = ExactReplayer.recording(request);
        SealedCapture log = request.inputs().captures().get(VmRequest.LOG);
        assertNotNull(log);
        long end = LogExtent.read(log.open()).instructions();
        long[] places =
                new Random(SEED).longs(25, 1_000_000, end - 1_000_000).sorted().toArray();
        var states = new ArrayList<Long>();
        var kept = new TreeMap<Long, Path>();
        try (InputStream whole = log.open();
                var machine = SteppedMachine.open(blackbox.data(), recording, whole)) {
            for (long place : places) {
                machine.runTo(place, PATIENCE);
                states.add(state(machine));
                Path target = folder.resolve("kept-" + place);
                if (states.size() % 4 == 1 && machine.keep(target)) {
                    kept.put(place, target);
                }
            }
            assertTrue(machine.finish(PATIENCE));
            assertEquals(-1, Files.mismatch(log(VmRequest.EVENTS), machine.capture(VmRequest.EVENTS)));
        }
        assertTrue(kept.size() >= 3, kept::toString);
        for (int i = 0; i < places.length; i++) {
            var before = kept.floorEntry(places[i]);
            try (InputStream whole = log.open();
                    var machine = before == null
                            ? SteppedMachine.open(blackbox.data(), recording, whole)
                            : SteppedMachine.open(blackbox.data(), recording, before.getValue())) {
                machine.runTo(places[i], PATIENCE);
                assertEquals(states.get(i), state(machine), "seed " + SEED + ", instruction " + places[i]);
            }
        }
    }

    /// The first landing makes the index, the later ones start from what it kept; each stands where the kernel emits
    /// that
    /// very event, and there the machine is what it is in a replay from the start.
    @Test
    void landsAtTheInstructionOfAnEvent() throws Exception {
        ReplayRequest request = request(facts);
        SealedCapture log = request.inputs().captures().get(VmRequest.LOG);
        assertNotNull(log);
        var indexes = new Random(SEED).longs(5, 200, facts.events() - 200).toArray();
        for (long index : indexes) {
            var printed = new StringWriter();
            try (var landed = LandedSession.at(
                    request,
                    new Moment.AtEvent(index),
                    new PrintWriter(printed),
                    LandedSession.Answers.JSON,
                    line -> {})) {
                landed.answer(
                        new BufferedReader(new StringReader("registers\nprocesses\nnext\nback 1\nto " + index)), "");
            }
            List<String> lines = printed.toString().lines().toList();
            JsonNode first = new ObjectMapper().readTree(lines.getFirst());
            JsonNode last = new ObjectMapper().readTree(lines.getLast());
            assertEquals(first.path("instruction"), last.path("instruction"), "there and back: " + lines);
            assertTrue(first.path("index").asLong() <= index, lines::toString);
            try (InputStream whole = log.open();
                    var machine = SteppedMachine.open(blackbox.data(), ExactReplayer.recording(request), whole)) {
                machine.runTo(first.path("instruction").asLong(), PATIENCE);
                String rsi = "%016x".formatted(machine.gdb().registers().get("rsi"));
                assertTrue(lines.contains("{\"rsi\":\"" + rsi + "\"}"), lines::toString);
            }
        }
    }

    @Test
    void theCommandLandsAndAnswers() throws Exception {
        var builder =
                new ProcessBuilder(Installation.command("replay", facts.run().value(), "--to", "400", "--json"));
        Path asked = Files.writeString(folder.resolve("asked"), "registers\nmemory 0 16\nfrobnicate\nfinish\n");
        Installation.Ended ended =
                blackbox.start(builder.redirectInput(asked.toFile())).await().expect(0);
        List<String> lines = ended.out().lines().toList();
        assertEquals(
                "exact",
                new ObjectMapper().readTree(lines.getFirst()).path("tier").asText(),
                ended::out);
        assertTrue(ended.out().contains("\"rip\":\""), ended::out);
        assertTrue(ended.out().contains("nothing is mapped at 0"), ended::out);
        assertTrue(ended.out().contains("there is no command 'frobnicate'"), ended::out);
        assertEquals("{\"finished\":\"true\"}", lines.getLast());
    }

    private static Path log(String name) {
        return recordings.captureFolder(facts.run()).resolve(name);
    }

    /// Registers and all of RAM, in 32 bits of each.
    private static long state(SteppedMachine machine) throws Exception {
        var sum = new CRC32C();
        try (FileChannel ram = FileChannel.open(machine.ram())) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
            while (ram.read(buffer) > 0) {
                sum.update(buffer.flip());
                buffer.clear();
            }
        }
        return sum.getValue() << 32 | machine.gdb().registers().values().hashCode() & 0xffff_ffffL;
    }

    @Test
    void aKilledRecordingIsReplayedAsFarAsItWent() throws Exception {
        Installation.Running running = blackbox.start(
                "record",
                "--json",
                "--tier",
                "exact",
                "--",
                "bash",
                "-c",
                "echo begun; for i in $(seq 1000000); do :; done; sleep 600");
        await(running, "begun");
        ProcessHandle qemu = running.qemu();
        assertTrue(qemu.destroyForcibly());
        qemu.onExit().join();
        Installation.Ended ended = running.await();
        RunFacts killed =
                RunFacts.read(recordings, new RunId(ended.recorded().path("run").asText()));
        Verdict verdict = new ExactReplayer().replay(request(killed), line -> {});
        assertEquals(Outcome.INCOMPLETE, verdict.outcome(), verdict::toString);
        String message = verdict.message();
        assertTrue(message != null && message.startsWith("the replay log was cut"), verdict::toString);
    }

    @Test
    void aRecordingWhoseRecorderWasKilledIsReplayedAsFarAsItIsSealed() throws Exception {
        Installation.Running running = blackbox.start(
                "record",
                "--json",
                "--tier",
                "exact",
                "--",
                "bash",
                "-c",
                "echo begun; while :; do for i in $(seq 100000); do :; done; echo more; done");
        await(running, "more\nmore\nmore\nmore");
        ProcessHandle qemu = running.qemu();
        running.process().destroyForcibly().waitFor();
        assertTrue(qemu.destroyForcibly());
        qemu.onExit().join();
        RunId id = newestRun();
        RunFacts killed = RunFacts.read(recordings, id);
        assertEquals(RunState.TRUNCATED, killed.state());
        Verdict verdict = new ExactReplayer().replay(request(killed), line -> {});
        assertEquals(Outcome.INCOMPLETE, verdict.outcome(), verdict::toString);
        String message = verdict.message();
        assertTrue(message != null && message.startsWith("the replay log was cut"), verdict::toString);
    }

    private static RunId newestRun() throws IOException {
        try (Stream<Path> folders = Files.list(blackbox.data().resolve("captures"))) {
            return new RunId(folders.map(folder -> folder.getFileName().toString())
                    .max(Comparator.naturalOrder())
                    .orElseThrow());
        }
    }

    private static void await(Installation.Running running, String words) throws Exception {
        while (!Files.readString(running.out()).contains(words)) {
            assertTrue(running.process().isAlive(), () -> "it ended before it said '" + words + "'");
            boolean unused = running.process().waitFor(50, TimeUnit.MILLISECONDS);
        }
    }
}
