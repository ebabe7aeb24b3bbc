package blackbox.replay.inputs;

import blackbox.evidence.trust.ReplayNote.Tier;
import blackbox.query.run.RunFacts;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.schemas.Hash;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a run's first event says was started (`run.open` in `schemas/events.md`), as far as a replay depends
/// on it.
///
/// @param tier how the run can be replayed: a run that was not recorded exactly can only be executed anew
/// @param imageName what the image was called
/// @param image its digest
/// @param snapshot digest of the warm snapshot; null for a cold start
/// @param workspace what was copied in
/// @param qemu which QEMU ran it
/// @param argv QEMU's command line
public record SealedStart(
        Tier tier,
        String imageName,
        Hash image,
        @Nullable Hash snapshot,
        Workspace workspace,
        SealedQemu qemu,
        List<String> argv) {
    public SealedStart {
        argv = List.copyOf(argv);
    }

    /// The workspace's archive.
    ///
    /// @param bytes its length; 0 where there was none
    public record Workspace(Hash sha256, long bytes) {}

    /// @param version what it says of itself
    /// @param digest of the program, or of the whole unpacked build
    public record SealedQemu(String version, Hash digest) {}

    /// Reads it.
    ///
    /// @throws ReplayException `BAD_INPUT` when the event lacks what a replay needs;
    ///     `ALTERED` when it cannot be read
    public static SealedStart of(RunFacts facts) throws ReplayException {
        RunFacts.Start start = facts.start();
        if (start == null) {
            throw new ReplayException(
                    Code.ALTERED,
                    "the first event of run " + facts.run() + " cannot be read"
                            + (facts.fault() == null ? "" : ": " + facts.fault())
                            + "; `blackbox verify " + facts.run() + "` says what is left of it");
        }
        JsonNode detail = start.detail();
        JsonNode machine = detail.path("start");
        var argv = new ArrayList<String>();
        machine.path("argv").forEach(word -> argv.add(word.asText()));
        JsonNode snapshot = detail.path("snapshot");
        try {
            return new SealedStart(
                    detail.path("tier").asText().equals(Tier.EXACT.word()) ? Tier.EXACT : Tier.RERUN,
                    text(detail.path("image"), "name"),
                    Hash.ofHex(text(detail.path("image"), "digest")),
                    snapshot.isTextual() ? Hash.ofHex(snapshot.textValue()) : null,
                    new Workspace(
                            Hash.ofHex(text(detail.path("workspace"), "sha256")),
                            detail.path("workspace").path("bytes").asLong()),
                    new SealedQemu(text(machine, "qemu"), Hash.ofHex(text(machine, "qemuSha256"))),
                    argv);
        } catch (IllegalArgumentException e) {
            throw new ReplayException(
                    Code.BAD_INPUT,
                    "the first event of run " + facts.run() + " does not say what was started: " + e.getMessage(),
                    e);
        }
    }

    private static String text(JsonNode node, String name) {
        String text = node.path(name).textValue();
        if (text == null || text.isEmpty()) {
            throw new IllegalArgumentException("no " + name);
        }
        return text;
    }
}
