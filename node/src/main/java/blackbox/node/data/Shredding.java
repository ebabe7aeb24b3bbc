package blackbox.node.data;

import blackbox.files.ProcessLock;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.replay.kept.Keeping;
import blackbox.replay.kept.KeptStore;
import blackbox.replay.seek.IndexLock;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.ShredMark;
import blackbox.vault.Vault.Shredded;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// Makes what is stored beside a run's events unreadable for good: the run's key, its captured files, the index
/// made from them for `replay --to`, re-executions that were kept, and the workspace that came back. Its events and
/// their proofs stay.
public final class Shredding {

    /// What remains afterwards, for people.
    public static final List<String> REMAINS = List.of(
            "the run's events, seals and checkpoints, which `verify` still checks; arguments and paths in them are"
                    + " readable",
            "the verdicts on its replays",
            "whatever was copied elsewhere unencrypted: exports, workspaces, a backup that has the run's key and the"
                    + " data folder's",
            "octets of files from before they were encrypted that the disk has not overwritten yet");

    private Shredding() {}

    /// The outcome.
    public sealed interface Outcome {}

    /// Nothing was done: the run is still being recorded.
    public record StillRecorded() implements Outcome {}

    /// Nothing was done: another process is indexing the run for `replay --to`, or executes it again to keep that or is
    /// landed in what was kept, and would add what its guest's memory held.
    public record BeingIndexed() implements Outcome {}

    /// It was shredded.
    ///
    /// @param payloads what was stored beside the run's events
    /// @param folders the other folders that were deleted
    public record Done(Shredded payloads, List<Path> folders) implements Outcome {
        public Done {
            folders = List.copyOf(folders);
        }
    }

    /// Shreds what is stored beside a run's events.
    ///
    /// @throws IOException when something could not be deleted; whatever could be is gone, and another call
    ///     continues
    public static Outcome shred(DataFolder data, ShredMark mark) throws IOException {
        RunId run = mark.run();
        if (DataFiles.unchecked(data).isLive(run)) {
            return new StillRecorded();
        }
        List<Path> folders = Stream.of(data.index(run), data.kept(run), data.workspaces(run))
                .filter(folder -> Files.exists(folder, LinkOption.NOFOLLOW_LINKS))
                .toList();
        boolean mayBeUsed = Files.isDirectory(data.kept(run));
        // Whoever waits for it finds the mark afterwards.
        try (IndexLock lock = IndexLock.tryTake(data, run);
                ProcessLock kept = mayBeUsed ? KeptStore.lockAlone(data, run) : null) {
            if (lock == null || mayBeUsed && kept == null) {
                return new BeingIndexed();
            }
            clearCache(data);
            Shredded payloads = PayloadKeyFile.vault(data).shred(mark);
            delete(data.index(run));
            delete(data.kept(run));
            delete(data.workspaces(run));
            deleteEmpty(data.index(run).resolveSibling(".").normalize());
            return new Done(payloads, folders);
        }
    }

    /// What replays that were killed left of what their guests did, of whatever run.
    private static void clearCache(DataFolder data) throws IOException {
        try {
            for (String prefix : List.of(Keeping.SCRATCH, ".disk-", ".replayed-", ".events-")) {
                ScratchFolder.clearLeft(data.cache(), prefix);
            }
        } catch (VmException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /// The folder of verdicts is there because of the lock where there are none.
    private static void deleteEmpty(Path folder) throws IOException {
        try {
            Files.deleteIfExists(folder);
        } catch (DirectoryNotEmptyException _) {
            return;
        }
    }

    private static void delete(Path folder) throws IOException {
        try {
            ScratchFolder.delete(folder);
        } catch (VmException e) {
            throw new IOException(e.getMessage(), e);
        }
    }
}
