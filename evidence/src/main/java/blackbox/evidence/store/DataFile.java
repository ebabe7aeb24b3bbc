package blackbox.evidence.store;

import blackbox.evidence.storage.FileStore;
import blackbox.evidence.storage.StoredFile;
import blackbox.schemas.table.DataFileName;
import java.io.IOException;

/// A data file of the events table, where it lies, and what its name says.
public record DataFile(FileStore store, String key, DataFileName name) implements Comparable<DataFile> {

    /// Opens the file.
    ///
    /// @throws java.nio.file.NoSuchFileException when ingest has put another in its place
    public StoredFile open() throws IOException {
        return store.open(key);
    }

    /// Where its seal stands in the same store.
    public String sealKey() {
        return key + DataFileName.SEAL_SUFFIX;
    }

    /// By first index; of two that start alike the longer comes first.
    @Override
    public int compareTo(DataFile other) {
        int byFirst = Long.compare(name.firstIndex(), other.name.firstIndex());
        int byEnd = Long.compare(other.name.endIndex(), name.endIndex());
        return byFirst != 0 ? byFirst : byEnd != 0 ? byEnd : name.token().compareTo(other.name.token());
    }
}
