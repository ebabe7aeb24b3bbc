package blackbox.node.data;

import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.ShredMark;
import blackbox.vault.Vault.Shredded;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Makes what is stored beside a run's events unreadable for good: the run's key, its captured files, the index
/// made from them for `replay --to`, and the workspace that came back. Its events and their proofs stay.
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
        Shredded payloads = PayloadKeyFile.vault(data).shred(mark);
        var deleted = new ArrayList<Path>();
        for (Path folder : List.of(data.index(run), data.workspaces(run))) {
            if (Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
                delete(folder);
                deleted.add(folder);
            }
        }
        return new Done(payloads, deleted);
    }

    private static void delete(Path folder) throws IOException {
        try {
            ScratchFolder.delete(folder);
        } catch (VmException e) {
            throw new IOException(e.getMessage(), e);
        }
    }
}
