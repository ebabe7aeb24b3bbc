package blackbox.schemas.batch;

/// The Kafka topic that carries sealed batches: key the run's id, value the batch's exact octets. See
/// `schemas/batch.md`.
public final class BatchTopic {

    public static final String NAME = "blackbox.batches";

    /// How many partitions it is created with; readers accept any number.
    public static final int PARTITIONS = 4;

    /// A record's greatest size in octets, twice that of a batch.
    public static final int RECORD_BYTES_MAX = 2 * SealedBatch.BYTES_MAX;

    private BatchTopic() {}
}
