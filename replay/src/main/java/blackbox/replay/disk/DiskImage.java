package blackbox.replay.disk;

import blackbox.evidence.store.Recordings;
import blackbox.query.run.RunFacts;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.disk.BlockLog.Applied;
import blackbox.vm.VmException;
import blackbox.vm.confine.ConfinedTool;
import blackbox.vm.workspace.WorkspaceDisk;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;

/// Makes a state disk from its base and a log of writes: a raw, sparse image whose journal has been replayed,
/// as a kernel would do after the machine was switched off at that moment.
public final class DiskImage {
    private static final Duration TOOL_TIMEOUT = Duration.ofMinutes(5);

    private DiskImage() {}

    /// What of a log is on the disk that was made from it.
    public enum Extent {
        /// All of it.
        WHOLE,
        /// It ends within a write, or has a gap: QEMU was killed while it wrote.
        PARTIAL
    }

    /// Writes a run's disk after the last write that is sealed to `target`, which must not exist.
    ///
    /// @param log of the run's writes; checked here
    /// @throws ReplayException `MISSING` when a part of it is not here, `ALTERED`, `ENGINE`
    public static Extent afterLast(Recordings recordings, RunFacts facts, SealedCapture log, Path target)
            throws ReplayException {
        Path base = SealedImages.state(recordings.captureFolder(facts.run()), DiskAt.opening(facts));
        log.check();
        Applied applied = make(base, log, log.sealedBytes(), target);
        return applied.unfinished() || applied.bytes() < log.sealedBytes() ? Extent.PARTIAL : Extent.WHOLE;
    }

    /// Writes the image to `target`, which must not exist.
    ///
    /// @param base a qcow2 image without a backing file
    /// @param log checked up to `logBytes`
    static Applied make(Path base, SealedCapture log, long logBytes, Path target) throws ReplayException {
        try {
            ConfinedTool.makeRaw(base, target, WorkspaceDisk.LENGTH_BYTES, TOOL_TIMEOUT);
            Applied applied;
            try (FileChannel disk = FileChannel.open(target, StandardOpenOption.WRITE);
                    InputStream writes = log.open(logBytes)) {
                if (disk.size() != WorkspaceDisk.LENGTH_BYTES) {
                    throw new ReplayException(Code.ALTERED, base + " is not a state disk: " + disk.size() + " octets");
                }
                applied = BlockLog.apply(writes, logBytes, disk, disk.size());
            }
            runJournal(target);
            return applied;
        } catch (BlockLog.MalformedLogException e) {
            throw new ReplayException(Code.ALTERED, String.valueOf(e.getMessage()), e);
        } catch (IOException | VmException e) {
            throw new ReplayException(Code.ENGINE, "the disk could not be assembled: " + e.getMessage(), e);
        }
    }

    /// Replays the journal of a state disk's raw image, a copy of our own.
    ///
    /// @throws ReplayException `ENGINE`
    public static void replayJournal(Path image) throws ReplayException {
        try {
            runJournal(image);
        } catch (VmException e) {
            throw new ReplayException(Code.ENGINE, "the disk's journal could not be replayed: " + e.getMessage(), e);
        }
    }

    /// On our own copy, and only the journal.
    private static void runJournal(Path image) throws VmException {
        Path disk = image.toAbsolutePath();
        var argv = List.of("e2fsck", "-E", "journal_only", "-y", disk.toString());
        new ConfinedTool(argv, List.of(), List.of(disk), WorkspaceDisk.LENGTH_BYTES).run(TOOL_TIMEOUT);
    }
}
