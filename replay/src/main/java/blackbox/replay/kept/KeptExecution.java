package blackbox.replay.kept;

import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.replay.inputs.SealedStart;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// What a kept re-execution consists of: the document `execution.json` in its folder, which a verdict binds by its
/// digest.
///
/// @param run that was executed again
/// @param start how the machine was started, of the exact tier
/// @param memoryMib its RAM
/// @param emitAddress where the guest's kernel has the function that emits the tracer's frames
/// @param captures what was captured of it, by name
/// @param agreement which of the run's events it has too
public record KeptExecution(
        RunId run,
        SealedStart start,
        int memoryMib,
        long emitAddress,
        SortedMap<String, Content> captures,
        Agreement agreement) {
    static final int OCTETS_MAX = 1 << 20;
    private static final int VERSION = 1;
    private static final ObjectMapper JSON = new ObjectMapper();

    /// A file.
    public record Content(long bytes, Hash sha256) {
        public Content {
            if (bytes < 0) {
                throw new IllegalArgumentException("a file has no " + bytes + " octets");
            }
        }
    }

    /// How far it agrees with the run.
    ///
    /// @param file digest of the list of agreed events, see [AgreedEvents]
    /// @param agreed how many events agree, with or without a frame of the tracer's
    /// @param events how many the run has
    public record Agreement(Hash file, long agreed, long events) {}

    public KeptExecution {
        captures = Collections.unmodifiableSortedMap(new TreeMap<>(captures));
        if (start.tier() != ReplayMethod.EXACT) {
            throw new IllegalArgumentException("an execution is kept only in the exact tier");
        }
    }

    byte[] encode() {
        ObjectNode tree = JSON.createObjectNode().put("version", VERSION).put("run", run.value());
        tree.putObject("image")
                .put("name", start.imageName())
                .put("digest", start.image().toString());
        Hash snapshot = start.snapshot();
        tree.put("snapshot", snapshot == null ? null : snapshot.toString());
        tree.putObject("workspace")
                .put("sha256", start.workspace().sha256().toString())
                .put("bytes", start.workspace().bytes());
        tree.putObject("qemu")
                .put("version", start.qemu().version())
                .put("digest", start.qemu().digest().toString());
        start.argv().forEach(tree.putArray("argv")::add);
        tree.put("memoryMib", memoryMib).put("emitAddress", emitAddress);
        ObjectNode files = tree.putObject("captures");
        captures.forEach((name, content) -> files.putObject(name)
                .put("bytes", content.bytes())
                .put("sha256", content.sha256().toString()));
        tree.putObject("agreement")
                .put("sha256", agreement.file().toString())
                .put("agreed", agreement.agreed())
                .put("events", agreement.events());
        return (tree + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /// Reads a document.
    ///
    /// @throws IOException when it is not one of a known version
    static KeptExecution decode(byte[] octets) throws IOException {
        JsonNode tree = JSON.readTree(octets);
        if (tree.path("version").asInt() != VERSION) {
            throw new IOException("the description of a kept execution has an unknown version");
        }
        try {
            var argv = new ArrayList<String>();
            tree.path("argv").forEach(word -> argv.add(word.asText()));
            var captures = new TreeMap<String, Content>();
            tree.path("captures")
                    .properties()
                    .forEach(each -> captures.put(
                            each.getKey(),
                            new Content(each.getValue().path("bytes").asLong(), hash(each.getValue(), "sha256"))));
            JsonNode agreement = tree.path("agreement");
            return new KeptExecution(
                    new RunId(tree.path("run").asText()),
                    start(tree, argv),
                    tree.path("memoryMib").asInt(),
                    tree.path("emitAddress").asLong(),
                    captures,
                    new Agreement(
                            hash(agreement, "sha256"),
                            agreement.path("agreed").asLong(),
                            agreement.path("events").asLong()));
        } catch (IllegalArgumentException e) {
            throw new IOException("the description of a kept execution is not valid: " + e.getMessage(), e);
        }
    }

    private static SealedStart start(JsonNode tree, List<String> argv) {
        @Nullable String snapshot = tree.path("snapshot").textValue();
        JsonNode workspace = tree.path("workspace");
        JsonNode qemu = tree.path("qemu");
        return new SealedStart(
                ReplayMethod.EXACT,
                tree.path("image").path("name").asText(),
                hash(tree.path("image"), "digest"),
                snapshot == null ? null : Hash.ofHex(snapshot),
                new SealedStart.Workspace(
                        hash(workspace, "sha256"), workspace.path("bytes").asLong()),
                new SealedStart.SealedQemu(qemu.path("version").asText(), hash(qemu, "digest")),
                argv);
    }

    private static Hash hash(JsonNode tree, String name) {
        return Hash.ofHex(tree.path(name).asText());
    }
}
