package blackbox.replay.verdict;

import blackbox.evidence.store.Recordings;
import blackbox.files.AtomicFiles;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The documents of a data folder's verdicts, `replays/<run>/<time>.json`. A document exists completely or not at
/// all, is durable when [#keep] returns, and is never changed.
public final class VerdictStore {
    private final DataFolder data;

    /// The documents below a data folder.
    public VerdictStore(Path data) {
        this.data = new DataFolder(data);
    }

    /// A document on the disk.
    ///
    /// @param sha256 of its octets: what the log of runs has to hold
    public record Document(Path file, byte[] octets, Hash sha256) {}

    /// Stores a verdict's document.
    ///
    /// @throws ReplayException `ENGINE` when the disk fails, or there already is a verdict with exactly that time
    public Document keep(Verdict verdict) throws ReplayException {
        byte[] octets = VerdictJson.encode(verdict);
        Path file = place(verdict);
        try {
            if (Files.exists(file)) {
                throw new FileAlreadyExistsException(file.toString());
            }
            AtomicFiles.onDisk().replace(file, octets);
        } catch (IOException e) {
            throw new ReplayException(Code.ENGINE, "the verdict could not be stored as " + file, e);
        }
        return new Document(file, octets, Hash.sha256(octets));
    }

    /// Where a verdict's document is kept.
    Path place(Verdict verdict) {
        return data.replays(verdict.run()).resolve(name(verdict));
    }

    /// Its name. Times have colons, which some file systems refuse.
    static String name(Verdict verdict) {
        return verdict.at().toString().replace(":", "-") + ".json";
    }

    /// The documents of a run's replays, the oldest first.
    public List<Document> list(RunId run) throws IOException {
        var documents = new ArrayList<Document>();
        for (Path file : Recordings.entries(data.replays(run))) {
            if (file.toString().endsWith(".json") && Files.size(file) <= VerdictJson.OCTETS_MAX) {
                byte[] octets = Files.readAllBytes(file);
                documents.add(new Document(file, octets, Hash.sha256(octets)));
            }
        }
        return documents;
    }
}
