package blackbox.evidence.store;

import blackbox.evidence.storage.FileStore;
import blackbox.evidence.storage.StoredFile;
import blackbox.schemas.table.DataFileName;
import java.io.IOException;

/// A data file of the events table: its location, and what its name says.
public record DataFile(FileStore store, String key, DataFileName name) implements Comparable<DataFile> {

    /// Opens the file.
    ///
    /// @throws java.nio.file.NoSuchFileException when ingest has replaced it with another
    public StoredFile open() throws IOException {
        return store.open(key);
    }

    /// The key of its seal in the same store.
    public String sealKey() {
        return key + DataFileName.SEAL_SUFFIX;
    }

    /// By first index; of two with the same first index, the longer comes first.
    @Override
    public int compareTo(DataFile other) {
        int byFirst = Long.compare(name.firstIndex(), other.name.firstIndex());
        int byEnd = Long.compare(other.name.endIndex(), name.endIndex());
        return byFirst != 0 ? byFirst : byEnd != 0 ? byEnd : name.token().compareTo(other.name.token());
    }
}
