package blackbox.ingest.check;

/// Why a batch was refused. Names are stored in findings and in the table's metadata and never reused.
public enum Reason {
    /// Its octets are not a batch.
    MALFORMED(false),
    /// Its record has the key of another run.
    MISFILED(false),
    /// Its checkpoint is not signed by the required key: the epoch's, or a trusted one.
    SIGNATURE(false),
    /// Batches before it have not arrived, so it is not known which key must have signed it.
    UNREACHED(false),
    /// Its checkpoint is of another log or of another size than the batch.
    CHECKPOINT(true),
    /// It does not follow the batch before: a number, an index or a hash does not match.
    CHAIN(true),
    /// Batches before it are missing.
    GAP(true),
    /// Its leaves do not lead to the root that its checkpoint signs.
    ROOT(true),
    /// It is in the place of another batch, with different contents.
    CONFLICT(true),
    /// Its last leaf is not the heartbeat that closes a batch and names the key of the next.
    HEARTBEAT(true),
    /// What the table holds of the run does not hold itself, so that it is not known what comes next.
    TABLE(true),
    /// It arrived after the run's close.
    AFTER_CLOSE(false),
    /// The run was stopped by an earlier finding.
    STOPPED(false);

    private final boolean stops;

    Reason(boolean stops) {
        this.stops = stops;
    }

    /// Whether the run's ingestion stops at such a batch. An unsigned batch could come from anyone: it is
    /// stored and reported, but it cannot silence the run; if it replaced a genuine batch, the next one shows
    /// the gap.
    public boolean stops() {
        return stops;
    }
}
