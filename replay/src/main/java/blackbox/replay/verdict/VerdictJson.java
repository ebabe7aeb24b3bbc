package blackbox.replay.verdict;

import blackbox.evidence.trust.ReplayNote.Outcome;
import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.cassette.Miss.Content;
import blackbox.replay.divergence.EffectDifference;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.output.OutputDifference;
import blackbox.replay.verdict.Levels.Equivalence;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// A verdict's document (`schemas/replay.md`): one line of JSON with its fields in a fixed order, so that a
/// verdict has exactly one encoding. Reading refuses any other. Version 5 says how far the guests' clocks were apart at
/// events that both have, version 4 names a re-execution that was kept, version 3
/// says in what the two are equal and which effects differ, version 2 how the guests' clocks did; a verdict that has
/// none of these to say is of version 1.
public final class VerdictJson {
    /// A longer document is invalid: divergences are stored in bounded form.
    public static final int OCTETS_MAX = 1 << 20;

    private static final int WITHOUT_CLOCK = 1;
    private static final int WITH_CLOCK = 2;
    private static final int WITH_LEVELS = 3;
    private static final int WITH_KEPT = 4;
    private static final int WITH_SHARED = 5;
    private static final int DEPTH_MAX = 8;
    private static final ObjectMapper JSON = mapper();

    private VerdictJson() {}

    private static ObjectMapper mapper() {
        var mapper = JsonMapper.builder()
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
                .build();
        mapper.getFactory()
                .setStreamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(DEPTH_MAX)
                        .maxStringLength(OCTETS_MAX)
                        .build());
        return mapper;
    }

    /// The document, ended by a newline.
    public static byte[] encode(Verdict verdict) {
        return (tree(verdict) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /// The verdict as `replay --json` prints it: the document's fields.
    public static ObjectNode tree(Verdict verdict) {
        Comparison comparison = verdict.comparison();
        ClockOffset clock = comparison.clock();
        FirstDivergence divergence = comparison.firstDivergence();
        OutputDifference output = divergence == null ? null : divergence.output();
        Levels levels = comparison.levels();
        boolean hasLevels = hasLevels(comparison);
        KeptReference kept = verdict.kept();
        ObjectNode tree = JSON.createObjectNode().put("version", version(verdict));
        tree.put("run", verdict.run().value()).put("at", verdict.at().toString());
        tree.put("tier", verdict.tier().word()).put("verdict", verdict.outcome().name());
        texts(tree.putArray("rules"), comparison.rules());
        texts(tree.putArray("compared"), comparison.compared());
        texts(tree.putArray("notCompared"), comparison.notCompared());
        tree.put("comparedEvents", comparison.events());
        if (divergence == null) {
            tree.putNull("firstDivergence");
        } else {
            divergence(tree.putObject("firstDivergence"), divergence);
        }
        tree.put("egressPackets", comparison.egressPackets());
        if (clock != null) {
            clock(tree.putObject("clock"), clock);
        }
        if (hasLevels) {
            levels(tree, levels);
        }
        if (output != null) {
            output(tree.putObject("outputDifference"), output);
        }
        ArrayNode refusals = tree.putArray("refusals");
        for (Refusal each : verdict.refusals()) {
            refusals.addObject()
                    .put("class", each.kind().name())
                    .put("what", each.what())
                    .put("expected", each.expected())
                    .put("actual", each.actual())
                    .put("mend", each.mend());
        }
        tree.put("message", verdict.message());
        if (kept != null) {
            tree.putObject("kept")
                    .put("name", kept.name())
                    .put("sha256", kept.sha256().toString());
        }
        return tree;
    }

    private static int version(Verdict verdict) {
        ClockOffset clock = verdict.comparison().clock();
        if (clock != null && clock.shared() != null) {
            return WITH_SHARED;
        }
        if (verdict.kept() != null) {
            return WITH_KEPT;
        }
        if (hasLevels(verdict.comparison())) {
            return WITH_LEVELS;
        }
        return clock == null ? WITHOUT_CLOCK : WITH_CLOCK;
    }

    private static boolean hasLevels(Comparison comparison) {
        FirstDivergence divergence = comparison.firstDivergence();
        return divergence != null && divergence.output() != null
                || !comparison.levels().equals(Levels.UNKNOWN);
    }

    private static void clock(ObjectNode tree, ClockOffset clock) {
        tree.put("startOffsetNs", clock.startNs()).put("endOffsetNs", clock.endNs());
        SharedOffsets shared = clock.shared();
        if (shared != null) {
            tree.put("sharedEvents", shared.events()).put("p50Ns", shared.p50Ns());
            tree.put("p99Ns", shared.p99Ns()).put("maxNs", shared.maxNs());
        }
    }

    private static void divergence(ObjectNode tree, FirstDivergence divergence) {
        tree.put("index", divergence.index()).put("class", divergence.kind().name());
        tree.put("expected", divergence.expected()).put("actual", divergence.actual());
        texts(tree.putArray("causes"), divergence.causes());
        texts(tree.putArray("context"), divergence.context());
    }

    private static void levels(ObjectNode tree, Levels levels) {
        tree.put("equivalence", levels.word());
        tree.put("pathDifferences", levels.pathDifferences());
        FirstDivergence path = levels.firstPath();
        if (path == null) {
            tree.putNull("firstPathDifference");
        } else {
            divergence(tree.putObject("firstPathDifference"), path);
        }
        tree.put("effectDifferences", levels.effectDifferences());
        ArrayNode effects = tree.putArray("effects");
        for (EffectDifference each : levels.effects()) {
            effects.addObject()
                    .put("kind", each.kind().name())
                    .put("subject", each.subject())
                    .put("expected", each.expected())
                    .put("actual", each.actual());
        }
    }

    private static void output(ObjectNode tree, OutputDifference output) {
        tree.put("stream", output.stream().word()).put("octet", output.octet());
        if (output.replayedOctet() != output.octet()) {
            tree.put("replayedOctet", output.replayedOctet());
        }
        content(tree.putObject("expected"), output.expected());
        content(tree.putObject("actual"), output.actual());
    }

    private static void content(ObjectNode tree, Content content) {
        tree.put("bytes", content.bytes()).put("sha256", content.sha256().toString());
    }

    private static void texts(ArrayNode array, List<String> texts) {
        texts.forEach(array::add);
    }

    /// Reads a document; null if it is not exactly one of a known version.
    public static @Nullable Verdict decode(byte[] octets) {
        if (octets.length > OCTETS_MAX) {
            return null;
        }
        try {
            Verdict verdict = verdict(JSON.readTree(new String(octets, StandardCharsets.UTF_8)));
            return Arrays.equals(encode(verdict), octets) ? verdict : null;
        } catch (JsonProcessingException | IllegalArgumentException | DateTimeException e) {
            return null;
        }
    }

    private static Verdict verdict(JsonNode tree) {
        var refusals = new ArrayList<Refusal>();
        for (JsonNode each : tree.path("refusals")) {
            refusals.add(new Refusal(
                    DivergenceClass.valueOf(text(each, "class")),
                    text(each, "what"),
                    text(each, "expected"),
                    text(each, "actual"),
                    text(each, "mend")));
        }
        JsonNode divergence = tree.path("firstDivergence");
        var comparison = new Comparison(
                texts(tree.path("rules")),
                texts(tree.path("compared")),
                texts(tree.path("notCompared")),
                tree.path("comparedEvents").longValue(),
                divergence.isObject() ? divergence(divergence, tree.path("outputDifference")) : null,
                tree.path("egressPackets").longValue(),
                tree.path("clock").isObject() ? clock(tree.path("clock")) : null,
                tree.has("equivalence") ? levels(tree) : Levels.UNKNOWN);
        return new Verdict(
                new RunId(text(tree, "run")),
                Instant.parse(text(tree, "at")),
                ReplayMethod.valueOf(text(tree, "tier").toUpperCase(Locale.ROOT)),
                Outcome.valueOf(text(tree, "verdict")),
                comparison,
                refusals,
                tree.path("message").textValue(),
                tree.path("kept").isObject() ? kept(tree.path("kept")) : null);
    }

    private static KeptReference kept(JsonNode tree) {
        return new KeptReference(text(tree, "name"), Hash.ofHex(text(tree, "sha256")));
    }

    private static Levels levels(JsonNode tree) {
        var effects = new ArrayList<EffectDifference>();
        for (JsonNode each : tree.path("effects")) {
            effects.add(new EffectDifference(
                    EffectDifference.Kind.valueOf(text(each, "kind")),
                    text(each, "subject"),
                    text(each, "expected"),
                    text(each, "actual")));
        }
        JsonNode path = tree.path("firstPathDifference");
        return new Levels(
                tree.path("equivalence").isNull()
                        ? null
                        : Equivalence.valueOf(text(tree, "equivalence").toUpperCase(Locale.ROOT)),
                tree.path("pathDifferences").longValue(),
                path.isObject() ? divergence(path, JSON.nullNode()) : null,
                tree.path("effectDifferences").longValue(),
                effects);
    }

    private static ClockOffset clock(JsonNode tree) {
        JsonNode end = tree.path("endOffsetNs");
        return new ClockOffset(
                tree.path("startOffsetNs").longValue(),
                end.isNull() ? null : (Long) end.longValue(),
                tree.has("sharedEvents") ? shared(tree) : null);
    }

    private static SharedOffsets shared(JsonNode tree) {
        return new SharedOffsets(
                tree.path("sharedEvents").longValue(),
                tree.path("p50Ns").longValue(),
                tree.path("p99Ns").longValue(),
                tree.path("maxNs").longValue());
    }

    private static OutputDifference output(JsonNode tree) {
        PrintedStream stream = PrintedStream.of(text(tree, "stream"));
        if (stream == null) {
            throw new IllegalArgumentException("no such stream");
        }
        long octet = tree.path("octet").longValue();
        return new OutputDifference(
                stream,
                octet,
                tree.has("replayedOctet") ? tree.path("replayedOctet").longValue() : octet,
                content(tree.path("expected")),
                content(tree.path("actual")));
    }

    private static Content content(JsonNode tree) {
        return new Content(Hash.ofHex(text(tree, "sha256")), tree.path("bytes").longValue());
    }

    private static FirstDivergence divergence(JsonNode tree, JsonNode output) {
        return new FirstDivergence(
                tree.path("index").longValue(),
                DivergenceClass.valueOf(text(tree, "class")),
                text(tree, "expected"),
                text(tree, "actual"),
                texts(tree.path("causes")),
                texts(tree.path("context")),
                output.isObject() ? output(output) : null);
    }

    private static String text(JsonNode tree, String name) {
        String text = tree.path(name).textValue();
        if (text == null) {
            throw new IllegalArgumentException("no " + name);
        }
        return text;
    }

    private static List<String> texts(JsonNode array) {
        var texts = new ArrayList<String>();
        for (JsonNode each : array) {
            String text = each.textValue();
            if (text == null) {
                throw new IllegalArgumentException("not a text");
            }
            texts.add(text);
        }
        return texts;
    }
}
