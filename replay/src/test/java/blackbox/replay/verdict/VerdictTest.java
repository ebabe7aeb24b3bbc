package blackbox.replay.verdict;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.evidence.trust.ReplayNote.Outcome;
import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.cassette.Miss.Content;
import blackbox.replay.divergence.DivergencePoint;
import blackbox.replay.divergence.DivergencePoint.Agreed;
import blackbox.replay.divergence.EffectDifference;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.output.OutputDifference;
import blackbox.replay.verdict.Levels.Equivalence;
import blackbox.replay.verdict.Verdict.Completion;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// What a verdict may say, and its document (`schemas/replay.md`, versions 1 to 5).
class VerdictTest {
    static final RunId RUN = new RunId("01jd8x3k9zq4v7w2m5n6p8r0st");
    static final Instant AT = Instant.parse("2026-11-22T02:20:07.000000120Z");
    static final Comparison SAME = new Comparison(List.of(), List.of("events", "frames"), List.of(), 1200, null, 0);

    private static final String GOLDEN = """
            {"version":1,"run":"01jd8x3k9zq4v7w2m5n6p8r0st","at":"2026-11-22T02:20:07.000000120Z","tier":"rerun",\
            "verdict":"DIVERGED","rules":["times differ"],"compared":["events"],"notCompared":["console: not kept"],\
            "comparedEvents":40,"firstDivergence":{"index":37,"class":"NET_MISS","expected":"200 OK",\
            "actual":"no answer","causes":["GET /v2 was never recorded"],"context":["36 file.open /etc/hosts"]},\
            "egressPackets":0,"refusals":[],"message":null}
            """;

    private static Comparison parted() {
        var divergence = new FirstDivergence(
                37,
                DivergenceClass.NET_MISS,
                "200 OK",
                "no answer",
                List.of("GET /v2 was never recorded"),
                List.of("36 file.open /etc/hosts"));
        return new Comparison(
                List.of("times differ"), List.of("events"), List.of("console: not kept"), 40, divergence, 0);
    }

    static Verdict same() {
        return Verdict.of(RUN, AT, ReplayMethod.EXACT, SAME, Completion.WHOLE);
    }

    private static Comparison comparison(List<String> rules, long events, long egress) {
        return new Comparison(rules, List.of("events"), List.of(), events, null, egress);
    }

    @Test
    void theOutcomeFollowsFromTheComparison() {
        assertEquals(Outcome.IDENTICAL, same().outcome());
        var rules = comparison(List.of("process ids are renamed"), 5, 0);
        assertEquals(
                Outcome.EQUIVALENT,
                Verdict.of(RUN, AT, ReplayMethod.RERUN, rules, Completion.WHOLE).outcome());
        assertEquals(
                Outcome.DIVERGED,
                Verdict.of(RUN, AT, ReplayMethod.RERUN, parted(), Completion.WHOLE)
                        .outcome());
        var cut = new Completion("the log ends at instruction 7");
        assertEquals(
                Outcome.INCOMPLETE,
                Verdict.of(RUN, AT, ReplayMethod.EXACT, SAME, cut).outcome());
        assertEquals(
                Outcome.DIVERGED,
                Verdict.of(RUN, AT, ReplayMethod.EXACT, parted(), cut).outcome());
        var nothing = comparison(List.of(), 0, 0);
        assertEquals(
                Outcome.INCOMPLETE,
                Verdict.of(RUN, AT, ReplayMethod.EXACT, nothing, Completion.WHOLE)
                        .outcome());
    }

    @Test
    void noVerdictClaimsMoreThanItShows() {
        for (Outcome outcome : List.of(Outcome.IDENTICAL, Outcome.EQUIVALENT, Outcome.INCOMPLETE)) {
            refused(outcome, parted());
        }
        refused(Outcome.DIVERGED, SAME);
        refused(Outcome.EQUIVALENT, SAME);
        refused(Outcome.IDENTICAL, comparison(List.of("any"), 5, 0));
        refused(Outcome.IDENTICAL, comparison(List.of(), 5, 1));
        refused(Outcome.IDENTICAL, Comparison.NONE);
        refused(Outcome.ENGINE_FAILED, Comparison.NONE);
    }

    private static void refused(Outcome outcome, Comparison comparison) {
        assertThrows(
                IllegalArgumentException.class,
                () -> new Verdict(RUN, AT, ReplayMethod.EXACT, outcome, comparison, List.of(), null),
                outcome + " " + comparison);
    }

    @Test
    void theDocumentHasItsVersionOneForm() {
        Verdict verdict = Verdict.of(RUN, AT, ReplayMethod.RERUN, parted(), Completion.WHOLE);
        assertEquals(GOLDEN, new String(VerdictJson.encode(verdict), StandardCharsets.UTF_8));
        assertEquals(verdict, VerdictJson.decode(GOLDEN.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void theDocumentHasItsVersionTwoFormWhereTheClocksAreKnown() {
        for (Long end : new Long[] {-1_200_000_000L, null}) {
            Comparison comparison = parted().with(new ClockOffset(41_000, end));
            Verdict verdict = Verdict.of(RUN, AT, ReplayMethod.RERUN, comparison, Completion.WHOLE);
            String golden = GOLDEN.replace("\"version\":1", "\"version\":2")
                    .replace(
                            "\"egressPackets\":0,",
                            "\"egressPackets\":0,\"clock\":{\"startOffsetNs\":41000,\"endOffsetNs\":" + end + "},");
            assertEquals(golden, new String(VerdictJson.encode(verdict), StandardCharsets.UTF_8));
            assertEquals(verdict, VerdictJson.decode(golden.getBytes(StandardCharsets.UTF_8)));
            assertNull(VerdictJson.decode(
                    golden.replace("\"version\":2", "\"version\":1").getBytes(StandardCharsets.UTF_8)));
            assertNull(VerdictJson.decode(
                    golden.replace("\"startOffsetNs\":41000,", "").getBytes(StandardCharsets.UTF_8)));
        }
    }

    @Test
    void theDocumentHasItsVersionFiveFormWhereTheClocksWereComparedAtEvents() {
        var kept = new KeptReference("0badcafe", Hash.sha256(new byte[] {7}));
        Comparison comparison =
                parted().with(new ClockOffset(41_000, 7L, new SharedOffsets(900, 2_000_000, 19_000_000, -31_000_000)));
        Verdict verdict = Verdict.of(RUN, AT, ReplayMethod.RERUN, comparison, Completion.WHOLE);
        String golden = GOLDEN.replace("\"version\":1", "\"version\":5")
                .replace(
                        "\"egressPackets\":0,",
                        "\"egressPackets\":0,\"clock\":{\"startOffsetNs\":41000,\"endOffsetNs\":7,\"sharedEvents\":900,"
                                + "\"p50Ns\":2000000,\"p99Ns\":19000000,\"maxNs\":-31000000},");
        String withKept = golden.replace(
                "\"message\":null}",
                "\"message\":null,\"kept\":{\"name\":\"0badcafe\",\"sha256\":\"" + kept.sha256() + "\"}}");
        assertEquals(golden, new String(VerdictJson.encode(verdict), StandardCharsets.UTF_8));
        assertEquals(verdict, VerdictJson.decode(golden.getBytes(StandardCharsets.UTF_8)));
        assertEquals(verdict.with(kept), VerdictJson.decode(withKept.getBytes(StandardCharsets.UTF_8)));
        for (String bad : List.of(
                golden.replace("\"version\":5", "\"version\":2"),
                withKept.replace("\"version\":5", "\"version\":4"),
                golden.replace("\"sharedEvents\":900", "\"sharedEvents\":0"),
                golden.replace("\"maxNs\":-31000000", "\"maxNs\":-1"),
                golden.replace("\"p50Ns\":2000000", "\"p50Ns\":-2"),
                golden.replace("\"p99Ns\":19000000,", ""))) {
            assertNull(VerdictJson.decode(bad.getBytes(StandardCharsets.UTF_8)), bad);
        }
    }

    @Test
    void theDocumentHasItsVersionFourFormWhereTheExecutionIsKept() {
        var kept = new KeptReference("0badcafe", Hash.sha256(new byte[] {7}));
        Verdict verdict = Verdict.of(RUN, AT, ReplayMethod.RERUN, parted(), Completion.WHOLE)
                .with(kept);
        String reference = "\"kept\":{\"name\":\"0badcafe\",\"sha256\":\"" + kept.sha256() + "\"}";
        String golden = GOLDEN.replace("\"version\":1", "\"version\":4")
                .replace("\"message\":null}", "\"message\":null," + reference + "}");
        assertEquals(golden, new String(VerdictJson.encode(verdict), StandardCharsets.UTF_8));
        assertEquals(verdict, VerdictJson.decode(golden.getBytes(StandardCharsets.UTF_8)));
        for (String bad : List.of(
                golden.replace("\"version\":4", "\"version\":3"),
                golden.replace("0badcafe", "../../../"),
                golden.replace("\"tier\":\"rerun\"", "\"tier\":\"exact\""),
                golden.replace("," + reference, ""))) {
            assertNull(VerdictJson.decode(bad.getBytes(StandardCharsets.UTF_8)), bad);
        }
    }

    /// With and without clocks.
    @Test
    void theDocumentHasItsVersionThreeFormWhereWhatWasPrintedDiffers() {
        var recorded = new Content(Hash.sha256(new byte[] {1}), 1_234);
        var replayed = new Content(Hash.sha256(new byte[] {2}), 1_300);
        var output = new OutputDifference(PrintedStream.STDOUT, 1_017, recorded, replayed);
        var effect = new EffectDifference(EffectDifference.Kind.OUTPUT, "stdout", "1,234 bytes", "1,300 bytes");
        String levels = "\"equivalence\":null,\"pathDifferences\":3,\"firstPathDifference\":null,"
                + "\"effectDifferences\":2,\"effects\":[{\"kind\":\"OUTPUT\",\"subject\":\"stdout\","
                + "\"expected\":\"1,234 bytes\",\"actual\":\"1,300 bytes\"}],";
        String printed =
                "\"outputDifference\":{\"stream\":\"stdout\",\"octet\":1017,\"expected\":{\"bytes\":1234,\"sha256\":\""
                        + recorded.sha256() + "\"},\"actual\":{\"bytes\":1300,\"sha256\":\"" + replayed.sha256()
                        + "\"}},";
        var divergence = Objects.requireNonNull(parted().firstDivergence()).with(output);
        var comparison = new Comparison(
                        List.of("times differ"), List.of("events"), List.of("console: not kept"), 40, divergence, 0)
                .with(new Levels(null, 3, null, 2, List.of(effect)));
        String golden = GOLDEN.replace("\"version\":1", "\"version\":3")
                .replace("\"egressPackets\":0,", "\"egressPackets\":0," + levels + printed);
        String withClock = golden.replace(
                "\"equivalence\"", "\"clock\":{\"startOffsetNs\":5,\"endOffsetNs\":null},\"equivalence\"");
        assertDocument(golden, comparison);
        assertDocument(withClock, comparison.with(new ClockOffset(5, null)));
        // After times of other lengths.
        var apart = new OutputDifference(PrintedStream.STDOUT, 1_234, 1_040, recorded, replayed);
        assertDocument(
                golden.replace("\"octet\":1017", "\"octet\":1234,\"replayedOctet\":1040"),
                new Comparison(
                                List.of("times differ"),
                                List.of("events"),
                                List.of("console: not kept"),
                                40,
                                Objects.requireNonNull(parted().firstDivergence())
                                        .with(apart),
                                0)
                        .with(comparison.levels()));
        for (String bad : List.of(
                golden.replace("\"octet\":1017", "\"octet\":1017,\"replayedOctet\":1017"),
                golden.replace("\"octet\":1017", "\"octet\":1017,\"replayedOctet\":1301"),
                golden.replace("\"version\":3", "\"version\":2"),
                golden.replace("\"effectDifferences\":2", "\"effectDifferences\":0"),
                golden.replace("\"equivalence\":null", "\"equivalence\":\"effects\""),
                golden.replace("\"kind\":\"OUTPUT\"", "\"kind\":\"PRINT\""),
                golden.replace("1017", "1235"),
                golden.replace("1017", "-1"),
                golden.replace("\"stdout\"", "\"stdin\""),
                golden.replace("1300", "1300.0"),
                golden.replace(recorded.sha256().toString(), "00"),
                golden.replaceFirst("\"firstDivergence\":\\{.*?\\},\"egress", "\"firstDivergence\":null,\"egress"))) {
            assertNull(VerdictJson.decode(bad.getBytes(StandardCharsets.UTF_8)), bad);
        }
    }

    @Test
    void anEquivalenceSaysInWhat() {
        var path = FirstDivergence.of(
                new DivergencePoint(3, 4, DivergenceClass.SCHED, "a", "b", List.of(), null, List.of(), List.of()));
        var effects = new Levels(Equivalence.EFFECTS, 1, path, 0, List.of());
        var all = new Levels(Equivalence.PATH, 0, null, 0, List.of());
        var comparison = new Comparison(List.of("path"), List.of("events"), List.of(), 40, null, 0);
        for (Levels levels : List.of(effects, all)) {
            Verdict verdict = Verdict.of(RUN, AT, ReplayMethod.RERUN, comparison.with(levels), Completion.WHOLE);
            assertEquals(Outcome.EQUIVALENT, verdict.outcome());
            assertEquals(levels, verdict.comparison().levels());
            assertEquals(verdict, VerdictJson.decode(VerdictJson.encode(verdict)));
            Verdict cut =
                    Verdict.of(RUN, AT, ReplayMethod.RERUN, comparison.with(levels), new Completion("it was ended"));
            assertEquals(Outcome.INCOMPLETE, cut.outcome());
            assertNull(cut.comparison().levels().equivalence());
        }
        assertThrows(IllegalArgumentException.class, () -> new Levels(Equivalence.PATH, 1, path, 0, List.of()));
        assertThrows(IllegalArgumentException.class, () -> new Levels(Equivalence.EFFECTS, 1, path, 1, List.of()));
    }

    private static void assertDocument(String golden, Comparison comparison) {
        Verdict verdict = Verdict.of(RUN, AT, ReplayMethod.RERUN, comparison, Completion.WHOLE);
        assertEquals(golden, new String(VerdictJson.encode(verdict), StandardCharsets.UTF_8));
        assertEquals(verdict, VerdictJson.decode(golden.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void everyKindOfVerdictComesBackAsItWas() {
        var refusal = new Refusal(DivergenceClass.IMAGE, "the image \"a\"", "aa", "bb\n", "blackbox image verify a");
        for (Verdict verdict : List.of(
                same(),
                Verdict.refused(RUN, AT, ReplayMethod.EXACT, List.of(refusal, refusal)),
                Verdict.failed(RUN, AT, ReplayMethod.EXACT, "it has stood still for 30 s"),
                Verdict.of(RUN, AT, ReplayMethod.EXACT, SAME, new Completion("cut")))) {
            assertEquals(verdict, VerdictJson.decode(VerdictJson.encode(verdict)));
        }
    }

    @Test
    void anotherEncodingOfTheSameIsRefused() {
        assertNotNull(VerdictJson.decode(GOLDEN.getBytes(StandardCharsets.UTF_8)));
        for (String bad : List.of(
                "",
                "{}",
                "[]",
                GOLDEN.strip(),
                GOLDEN + "\n",
                GOLDEN.replace("\"version\":1", "\"version\":2"),
                GOLDEN.replace(",\"tier\"", ", \"tier\""),
                GOLDEN.replace("\"rerun\"", "\"RERUN\""),
                GOLDEN.replace("DIVERGED", "IDENTICAL"),
                GOLDEN.replace("NET_MISS", "NET"),
                GOLDEN.replace("\"egressPackets\":0", "\"egressPackets\":0.0"),
                GOLDEN.replace("\"egressPackets\":0", "\"egressPackets\":-1"),
                GOLDEN.replace("\"message\":null", "\"message\":null,\"more\":1"),
                GOLDEN.replace("\"refusals\":[]", "\"refusals\":{}"),
                GOLDEN.replace("[\"events\"]", "[7]"),
                GOLDEN.replace("{\"version\":1", "{\"version\":1,\"version\":1"))) {
            assertNull(VerdictJson.decode(bad.getBytes(StandardCharsets.UTF_8)), bad);
        }
    }

    @Test
    void aDivergenceHasItsContextAndItsEffects() {
        var parted = new DivergencePoint(
                37,
                39,
                DivergenceClass.SCHED,
                "read 5",
                "read 6",
                List.of("two threads took turns"),
                new Agreed(36, 36, "36 open /a"),
                List.of("37 read 5"),
                List.of("39 read 6"));
        FirstDivergence first = FirstDivergence.of(parted);
        assertEquals(
                new FirstDivergence(
                        37,
                        DivergenceClass.SCHED,
                        "read 5",
                        "read 6",
                        List.of("two threads took turns"),
                        List.of("both agree: 36 open /a", "recorded: 37 read 5", "replayed: 39 read 6")),
                first);
        var effect = new EffectDifference(EffectDifference.Kind.FILE, "/a", "read 5", "read 6");
        Comparison comparison = new Comparison(List.of(), List.of("events"), List.of(), 37, first, 0)
                .with(new Levels(null, 2, null, 3, List.of(effect)));
        Verdict verdict = Verdict.of(RUN, AT, ReplayMethod.RERUN, comparison, Completion.WHOLE);
        assertEquals(verdict, VerdictJson.decode(VerdictJson.encode(verdict)));
    }
}
