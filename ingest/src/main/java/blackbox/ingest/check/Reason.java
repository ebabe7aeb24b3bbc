package blackbox.ingest.check;

/// Why a batch was refused. Names are stored in findings and in the table's metadata and never reused.
public enum Reason {
    /// Its octets are no batch.
    MALFORMED(false),
    /// It came under the key of another run.
    MISFILED(false),
    /// Its checkpoint is not signed by whom it must be: the epoch's key, or a trusted one.
    SIGNATURE(false),
    /// Batches before it have not come, so it is not known whose key must have signed it.
    UNREACHED(false),
    /// Its checkpoint is of another log or of another size than the batch.
    CHECKPOINT(true),
    /// It does not follow the batch before: a number, an index or a hash does not fit.
    CHAIN(true),
    /// Batches before it are missing.
    GAP(true),
    /// Its leaves do not lead to the root that its checkpoint signs.
    ROOT(true),
    /// It stands where another batch stood, with other contents.
    CONFLICT(true),
    /// Its last leaf is not the heartbeat that closes a batch and names the key of the next.
    HEARTBEAT(true),
    /// It comes after the run's close.
    AFTER_CLOSE(false),
    /// The run was stopped by an earlier finding.
    STOPPED(false);

    private final boolean stops;

    Reason(boolean stops) {
        this.stops = stops;
    }

    /// Whether the run's ingestion stops at such a batch. What is not signed could be anyone's:
    /// it is kept and told, but it cannot silence the run; if it replaced a true batch, the next one shows the
    /// gap.
    public boolean stops() {
        return stops;
    }
}
