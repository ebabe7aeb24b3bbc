package blackbox.evidence.store;

import blackbox.schemas.table.DataFileName;
import java.nio.file.Path;

/// A data file of the events table and what its name says.
public record DataFile(Path path, DataFileName name) implements Comparable<DataFile> {

    /// Where its seal stands.
    public Path seal() {
        return path.resolveSibling(name.sealName());
    }

    /// By first index; of two that start alike the longer comes first.
    @Override
    public int compareTo(DataFile other) {
        int byFirst = Long.compare(name.firstIndex(), other.name.firstIndex());
        int byEnd = Long.compare(other.name.endIndex(), name.endIndex());
        return byFirst != 0 ? byFirst : byEnd != 0 ? byEnd : name.token().compareTo(other.name.token());
    }
}
