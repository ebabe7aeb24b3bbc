package blackbox.node.data;

import blackbox.evidence.storage.FileStore;
import blackbox.evidence.storage.LocalStore;
import blackbox.evidence.store.Recordings;
import blackbox.schemas.folder.DataFolder;

/// Where an installation keeps its data files and their seals: on the local disk, in the data folder. This is the
/// one place that decides so; an object store would be chosen here.
public final class DataFiles {

    private DataFiles() {}

    /// The store that ingest writes to, and that every answer is read from.
    public static FileStore of(DataFolder data) {
        return LocalStore.in(data);
    }

    /// The recordings there, for callers that check data files themselves. Answers are made from
    /// [LocalTrust#recordings] instead.
    public static Recordings unchecked(DataFolder data) {
        return Recordings.unchecked(data.root(), of(data));
    }
}
