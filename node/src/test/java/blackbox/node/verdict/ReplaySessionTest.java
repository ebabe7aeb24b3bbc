package blackbox.node.verdict;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.trust.ReplayNote.Outcome;
import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.node.data.LocalTrust;
import blackbox.node.data.StoredImage;
import blackbox.node.record.TransparencyLog;
import blackbox.node.verdict.ReplaySession.ReplayOptions;
import blackbox.node.verdict.ReplaySession.Verdicts;
import blackbox.recorder.capture.PrintedStream;
import blackbox.recorder.keys.KeyFile;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.Spool;
import blackbox.replay.ReplayException;
import blackbox.replay.cassette.Miss;
import blackbox.replay.divergence.EffectDifference;
import blackbox.replay.divergence.cause.Causes;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.output.OutputDifference;
import blackbox.replay.request.Difference;
import blackbox.replay.tier.ReplayRequest;
import blackbox.replay.tier.Replayer;
import blackbox.replay.verdict.ClockOffset;
import blackbox.replay.verdict.Comparison;
import blackbox.replay.verdict.FirstDivergence;
import blackbox.replay.verdict.Levels;
import blackbox.replay.verdict.Levels.Equivalence;
import blackbox.replay.verdict.LoggedVerdict;
import blackbox.replay.verdict.Refusal;
import blackbox.replay.verdict.Verdict;
import blackbox.replay.verdict.Verdict.Completion;
import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Text;
import blackbox.vm.qemu.Qemu;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// From a run to a signed verdict, with a real recording, a real log of runs and a tier that returns what it is
/// given.
class ReplaySessionTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Instant START = Instant.parse("2026-11-21T09:00:00Z");
    private static final String NONE = Hash.sha256(new byte[0]).toString();

    @TempDir
    Path folder;

    private final RunId run = RunId.create(START, new Random(7));
    private final List<String> said = new ArrayList<>();
    private final Told told = new Told();
    private DataFolder data;

    /// A tier whose outcomes are given.
    private final class Told implements Replayer {
        private final Deque<Comparison> comparisons = new ArrayDeque<>();
        private List<Refusal> refusals = List.of();
        private int replays;

        @Override
        public ReplayMethod tier() {
            return ReplayMethod.RERUN;
        }

        @Override
        public Set<String> captures() {
            return Set.of();
        }

        @Override
        public List<Refusal> check(ReplayRequest request) {
            return refusals;
        }

        @Override
        public Verdict replay(ReplayRequest request, Progress progress) {
            replays++;
            Instant at = START.plusSeconds(1000 + replays);
            Comparison next = comparisons.poll();
            return next == null
                    ? Verdict.failed(run, at, tier(), "QEMU ended")
                    : Verdict.of(run, at, tier(), next, Completion.WHOLE);
        }
    }

    @BeforeEach
    void record() throws Exception {
        data = new DataFolder(folder);
        var key = KeyFile.loadOrCreate(data.keys(), "recorder");
        var sealer = new RunSealer(run, key, Spool.create(data.spool(), run), InstantSource.fixed(START));
        var header = EventHeader.host(START.getEpochSecond() * 1_000_000_000L);
        sealer.append(
                new Event.RunOpen(header, Text.of("first"), opening(image()).toString()));
        sealer.seal();
        sealer.append(new Event.RunClose(header, sealer.size(), 0, 0, null, null));
        sealer.seal();
    }

    /// Returns the digest.
    private String image() throws Exception {
        String text = StoredImage.in(folder.resolve("images"));
        return Hash.sha256(text.getBytes(StandardCharsets.UTF_8)).toString();
    }

    private ObjectNode opening(String imageDigest) throws Exception {
        Qemu qemu = Qemu.find(folder);
        ObjectNode open = JSON.createObjectNode().put("tier", "live").putNull("snapshot");
        open.putObject("image").put("name", "default").put("digest", imageDigest);
        open.putObject("workspace").put("sha256", NONE).put("bytes", 0);
        ObjectNode start = open.putObject("start").put("qemu", qemu.version());
        start.put("qemuSha256", qemu.digest().toString()).putArray("argv").add("qemu");
        return open;
    }

    /// Begins the log of runs, as any later recording would.
    private void beginLog() throws Exception {
        try (TransparencyLog runs = TransparencyLog.open(data)) {
            runs.log().certifyIngest(KeyFile.loadOrCreate(data.keys(), "ingest").verifier());
        }
    }

    private Verdicts replay(int times) throws Exception {
        var session = new ReplaySession(
                data, new Tiers(List.of(told)), () -> START.plusSeconds(900), System::nanoTime, said::add);
        return session.run(new ReplayOptions(run, times, null), new LocalTrust(data).trustedKeys());
    }

    private List<LoggedVerdict> shown() throws IOException {
        return VerdictList.read(Recordings.unchecked(folder), run, new LocalTrust(data).trustedKeys());
    }

    private static Comparison same() {
        return new Comparison(List.of("process-numbers"), List.of("events"), List.of("memory"), 12, null, 0);
    }

    private static Comparison parted() {
        var at = new FirstDivergence(1, DivergenceClass.RANDOM, "a\nb", "c\\d", List.of("c"), List.of("d"));
        return new Comparison(List.of(), List.of("events"), List.of(), 1, at, 0);
    }

    private static String text(Verdicts verdicts) {
        return text(verdicts, ReplayReport.Octets.NONE, ReplayReport.Reader.TERMINAL);
    }

    private static String text(Verdicts verdicts, ReplayReport.Octets octets, ReplayReport.Reader reader) {
        return text(verdicts, octets, reader, ReplayReport.Extent.SCREEN);
    }

    private static String text(
            Verdicts verdicts, ReplayReport.Octets octets, ReplayReport.Reader reader, ReplayReport.Extent extent) {
        var text = new StringWriter();
        ReplayReport.print(new PrintWriter(text), verdicts, octets, reader, extent);
        return text.toString();
    }

    @Test
    void aReplayThatConfirmsTheRunIsSignedAndStaysConfirmed() throws Exception {
        beginLog();
        told.comparisons.addAll(List.of(same(), same()));
        Verdicts verdicts = replay(1);
        assertTrue(verdicts.hold());
        assertNull(verdicts.telling().unsigned());
        List<LoggedVerdict> shown = shown();
        assertEquals(1, shown.size());
        assertNull(shown.getFirst().fault());
        assertEquals(verdicts.telling().verdict(), shown.getFirst().verdict());
        // A verdict in the log of runs does not change what was recorded: the run still verifies.
        assertTrue(replay(1).hold());
        assertEquals(2, shown().size());
        assertTrue(text(verdicts).contains("verdict       EQUIVALENT"), text(verdicts));
        assertTrue(text(verdicts).contains("signed        yes"), text(verdicts));
        assertEquals("EQUIVALENT", ReplayReport.json(verdicts).path("verdict").asText());
    }

    @Test
    void ofSeveralReplaysTheOneThatDoesNotHoldDecides() throws Exception {
        beginLog();
        told.comparisons.addAll(List.of(same(), parted(), same()));
        Verdicts verdicts = replay(3);
        assertFalse(verdicts.hold());
        assertEquals(2, verdicts.held());
        assertEquals(Outcome.DIVERGED, verdicts.telling().verdict().outcome());
        assertEquals(3, shown().size());
        assertEquals(3, ReplayReport.json(verdicts).path("times").asInt());
        assertTrue(text(verdicts).contains("2 of 3 replays confirm"), text(verdicts));
        assertTrue(text(verdicts).contains("diverges at   event 1, RANDOM"), text(verdicts));
        assertTrue(said.stream().anyMatch(line -> line.startsWith("replay 3 of 3, about ")), said.toString());
        // Escaped once, and in JSON not at all.
        assertTrue(text(verdicts).contains("recorded    a\\x0ab"), text(verdicts));
        assertTrue(ReplayReport.brief(verdicts).get(1).endsWith("recorded a\\x0ab, replayed c\\x5cd"));
        JsonNode first = ReplayReport.json(verdicts).path("firstDivergence");
        assertEquals("a\nb", first.path("expected").asText());
    }

    private static Comparison parted(String file, int process) {
        var effects = List.of(
                new EffectDifference(EffectDifference.Kind.FILE, file, "12 octets", "13 octets"),
                new EffectDifference(EffectDifference.Kind.EXIT, "cc[" + process + "]", "exit_code=0", "exit_code=1"));
        return parted().with(new Levels(null, 2, null, 2, effects));
    }

    private static Comparison equal(Equivalence equivalence, long places) {
        var path = places == 0
                ? null
                : new FirstDivergence(7, DivergenceClass.UNEXPLAINED, "7 open /a", "8 open /b", List.of(), List.of());
        return same().with(new Levels(equivalence, places, path, 0, List.of()));
    }

    /// Each difference with how many replays have it, on one screen.
    @Test
    void ofSeveralReplaysTheUnionOfDifferencesIsShown() throws Exception {
        beginLog();
        told.comparisons.addAll(List.of(
                equal(Equivalence.PATH, 0),
                equal(Equivalence.EFFECTS, 2),
                parted("/workspace/a", 100),
                parted("/workspace/b", 200),
                equal(Equivalence.EFFECTS, 1),
                same()));
        for (int i = 0; i < 8; i++) {
            told.comparisons.add(parted("/workspace/c" + i, 300 + i));
        }
        Verdicts verdicts = replay(14);
        JsonNode json = ReplayReport.json(verdicts);
        assertEquals(
                "{\"path\":1,\"effects\":2,\"unknown\":1}", json.path("levels").toString());
        assertEquals(12, json.path("differences").size());
        JsonNode often = json.path("differences").path(0);
        assertEquals("effects", often.path("level").asText());
        assertEquals("EXIT", often.path("kind").asText());
        assertEquals("cc", often.path("subject").asText());
        assertEquals(10, often.path("replays").asInt());
        JsonNode path = json.path("differences").path(11);
        assertEquals("path", path.path("level").asText());
        assertEquals("event 7", path.path("subject").asText());
        assertEquals(2, path.path("replays").asInt());
        String screen = text(verdicts);
        assertTrue(screen.lines().count() <= 25, screen);
        assertTrue(
                screen.contains("4 of 14 replays confirm the run (28 %): 1 in every event, 2 in all effects"), screen);
        assertTrue(screen.contains("10 of 14    effects  EXIT cc"), screen);
        assertTrue(screen.contains("and 8 more"), screen);
        String all = text(verdicts, ReplayReport.Octets.NONE, ReplayReport.Reader.TERMINAL, ReplayReport.Extent.ALL);
        assertTrue(all.contains("/workspace/c7") && all.contains("path  UNEXPLAINED event 7"), all);
    }

    /// However much is known of a divergence, it fits on one screen, and `--all` shows the rest.
    @Test
    void aReplayIsShownOnOneScreen() throws Exception {
        beginLog();
        List<String> many = IntStream.range(0, 40)
                .mapToObj(i -> "rule" + i + ": its meaning")
                .toList();
        var content = new Miss.Content(Hash.sha256(new byte[] {1}), 9);
        var at = new FirstDivergence(9, DivergenceClass.RANDOM, "was", "is", many, many)
                .with(new OutputDifference(PrintedStream.STDOUT, 4, content, content));
        var effect = new EffectDifference(EffectDifference.Kind.FILE, "/workspace/a", "12 octets", "13 octets");
        var path = new FirstDivergence(7, DivergenceClass.UNEXPLAINED, "7 open", "8 open", many, many);
        told.comparisons.add(new Comparison(many, List.of("events"), many, 99, at, 0)
                .with(new ClockOffset(1, 2L))
                .with(new Levels(null, 50, path, 40, Collections.nCopies(Levels.EFFECTS_MAX, effect))));
        Verdicts verdicts = replay(1);
        var octets = new ReplayReport.Octets(null, new Difference(4, 0, "a", "b"));
        String screen = text(verdicts, octets, ReplayReport.Reader.TERMINAL);
        assertTrue(screen.lines().count() <= 25, screen);
        assertTrue(screen.contains("39 more things; --all lists them"), screen);
        assertTrue(screen.contains("rule39; --all says"), screen);
        String all = text(verdicts, octets, ReplayReport.Reader.TERMINAL, ReplayReport.Extent.ALL);
        assertTrue(all.contains("permitted     rule39: its meaning"), all);
        assertTrue(all.contains("not compared  rule39"), all);
        assertTrue(all.contains("cause       rule39"), all);
        assertTrue(all.contains("path          parts at event 7"), all);
    }

    /// What was printed may be secret: a file, such as a build's log, gets the command that shows it.
    @Test
    void whatWasPrintedIsShownToWhoMaySeeIt() throws Exception {
        beginLog();
        var all = new Miss.Content(Hash.sha256(new byte[] {1}), 9);
        var output = new OutputDifference(PrintedStream.STDERR, 4, all, new Miss.Content(all.sha256(), 4));
        told.comparisons.add(new Comparison(
                List.of("clock"),
                List.of("events"),
                List.of(),
                1,
                FirstDivergence.of(1, output, new Causes.Found(DivergenceClass.UNEXPLAINED, List.of())),
                0));
        Verdicts verdicts = replay(1);
        var octets = new ReplayReport.Octets(null, new Difference(4, 0, "key=Sk-1\n", "key="));
        String said = text(verdicts, octets, ReplayReport.Reader.TERMINAL);
        assertTrue(said.contains("diverges at   event 1, UNEXPLAINED"), said);
        assertTrue(
                said.contains("output      standard error, from byte 4 on: nothing more was printed, of 9 bytes"),
                said);
        assertTrue(said.contains("recorded    key=Sk-1\\x0a"), said);
        String inAFile = text(verdicts, octets, ReplayReport.Reader.FILE);
        assertFalse(inAFile.contains("Sk-1"), inAFile);
        assertTrue(inAFile.contains("to see it   blackbox show " + run + " --printed"), inAFile);
        JsonNode difference = ReplayReport.json(verdicts).path("outputDifference");
        assertEquals("stderr", difference.path("stream").asText());
        assertEquals(4, difference.path("octet").asInt());
        assertEquals(9, difference.path("expected").path("bytes").asInt());
    }

    @Test
    void aMachineThatFailedIsReportedAsAFailure() throws Exception {
        beginLog();
        Verdicts verdicts = replay(1);
        assertTrue(verdicts.isFailure());
        assertEquals("QEMU ended", verdicts.telling().verdict().message());
        assertNull(shown().getFirst().fault());
    }

    @Test
    void aRunThatWasTamperedWithIsRefusedAndNothingStarts() throws Exception {
        beginLog();
        Path segment = Recordings.unchecked(folder).spoolSegments(run).getFirst();
        byte[] octets = Files.readAllBytes(segment);
        octets[octets.length / 2] ^= 1;
        Files.write(segment, octets);
        told.comparisons.add(same());
        try {
            Verdict verdict = replay(1).telling().verdict();
            assertEquals(Outcome.INCOMPLETE, verdict.outcome());
            assertTrue(verdict.refusals().getFirst().mend().startsWith("blackbox verify"));
        } catch (ReplayException e) {
            assertEquals(ReplayException.Code.ALTERED, e.code(), "not even its first event can be read");
        }
        assertEquals(0, told.replays);
    }

    @Test
    void aRunWithoutItsFirstEventDoesNotHold() throws Exception {
        beginLog();
        Files.write(Recordings.unchecked(folder).spoolSegments(run).getFirst(), new byte[0]);
        var failure = assertThrows(ReplayException.class, () -> replay(1));
        assertEquals(ReplayException.Code.ALTERED, failure.code(), failure::getMessage);
        assertTrue(String.valueOf(failure.getMessage()).contains("blackbox verify " + run), failure::getMessage);
    }

    @Test
    void anAlteredInputIsRefusedWithARemedyAndNothingStarts() throws Exception {
        beginLog();
        Files.writeString(folder.resolve("images/default/root.erofs"), "ROOT.erofs");
        told.comparisons.add(same());
        Verdicts verdicts = replay(5);
        assertEquals(0, told.replays);
        assertFalse(verdicts.hold());
        assertFalse(verdicts.isFailure());
        Refusal refusal = verdicts.telling().verdict().refusals().getFirst();
        assertEquals(DivergenceClass.IMAGE, refusal.kind());
        assertTrue(text(verdicts).contains("to fix it   blackbox image verify default"), text(verdicts));
        assertEquals(
                "IMAGE",
                ReplayReport.json(verdicts)
                        .path("refusals")
                        .path(0)
                        .path("class")
                        .asText());
        assertEquals(1, shown().size());
    }

    @Test
    void whatTheTierRefusesIsRefused() throws Exception {
        beginLog();
        told.refusals = List.of(new Refusal(DivergenceClass.ENGINE, "word 3", "1024", "2048", "none"));
        assertEquals(told.refusals, replay(1).telling().verdict().refusals());
        assertEquals(0, told.replays);
    }

    @Test
    void withoutTheLogsKeyTheVerdictIsKeptAndCalledUnsigned() throws Exception {
        told.comparisons.add(same());
        Verdicts verdicts = replay(1);
        assertTrue(verdicts.hold());
        assertTrue(String.valueOf(verdicts.telling().unsigned()).contains("does not have the key of its log of runs"));
        assertFalse(Files.exists(data.keys().resolve("log.conf")), "no key is made for somebody else's log");
        assertTrue(String.valueOf(shown().getFirst().fault()).contains("does not contain it"));
        assertTrue(text(verdicts).contains("signed        NO"), text(verdicts));
    }

    @Test
    void aTierThatThisBuildLacksIsRefused() {
        var session =
                new ReplaySession(data, new Tiers(List.of()), InstantSource.system(), System::nanoTime, said::add);
        var failure = assertThrows(
                ReplayException.class,
                () -> session.run(new ReplayOptions(run, 1, null), new LocalTrust(data).trustedKeys()));
        assertEquals(ReplayException.Code.BAD_INPUT, failure.code());
        assertThrows(IllegalArgumentException.class, () -> new Tiers(List.of(told, told)));
    }
}
