package blackbox.ingest.table;

/// The steps of a commit, in order: where tests interrupt it to show that a crash there neither loses nor
/// duplicates a row.
public enum CommitStep {
    /// Rows are about to be written to files in the staging folder.
    BEFORE_FILES,
    /// The files are written and forced to the disk.
    FILES_FORCED,
    /// Their seals are too.
    SEALS_FORCED,
    /// The seals have their final names.
    SEALS_RENAMED,
    /// The files have their final names, which are durable.
    FILES_RENAMED,
    /// The catalog points to the new snapshot.
    COMMITTED,
    /// The files that were replaced are gone.
    REPLACED_REMOVED;

    /// Called at every step; may throw to interrupt the commit.
    @FunctionalInterface
    public interface Observer {

        Observer NONE = _ -> {};

        void reached(CommitStep step);
    }
}
