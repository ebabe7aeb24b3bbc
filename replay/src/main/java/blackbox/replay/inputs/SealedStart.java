package blackbox.replay.inputs;

import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunOpening;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.schemas.Hash;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What was started, according to a run's first event (`run.open` in `schemas/events.md`), as far as a replay
/// depends on it.
///
/// @param tier how the run can be replayed: a run that was not recorded exactly can only be executed again
/// @param imageName the image's name
/// @param image its digest
/// @param snapshot digest of the warm snapshot; null for a cold start
/// @param workspace what was copied in
/// @param qemu which QEMU ran it
/// @param argv QEMU's command line
public record SealedStart(
        ReplayMethod tier,
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
    /// @param bytes its length; 0 if there was none
    public record Workspace(Hash sha256, long bytes) {}

    /// @param version as it reports it
    /// @param digest of the program, or of the whole unpacked build
    public record SealedQemu(String version, Hash digest) {}

    /// Reads it from the run's first event.
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
                            + "; `blackbox verify " + facts.run() + "` shows what is left of it");
        }
        try {
            RunOpening opening = facts.opening();
            RunOpening.Image image = said(opening.image(), "image");
            RunOpening.Machine machine = said(opening.machine(), "machine");
            return new SealedStart(
                    said(opening.tier(), "tier").label().equals(ReplayMethod.EXACT.word())
                            ? ReplayMethod.EXACT
                            : ReplayMethod.RERUN,
                    image.name(),
                    image.digest(),
                    opening.snapshot(),
                    new Workspace(
                            said(opening.inputs().workspace(), "workspace"),
                            opening.inputs().workspaceBytes()),
                    new SealedQemu(machine.qemu(), machine.qemuDigest()),
                    machine.argv());
        } catch (IllegalArgumentException e) {
            throw new ReplayException(
                    Code.BAD_INPUT,
                    "the first event of run " + facts.run() + " does not say what was started: " + e.getMessage(),
                    e);
        }
    }

    private static <T> T said(@Nullable T value, String name) {
        if (value == null) {
            throw new IllegalArgumentException("no " + name);
        }
        return value;
    }
}
