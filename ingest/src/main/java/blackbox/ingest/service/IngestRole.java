package blackbox.ingest.service;

import blackbox.ingest.check.Ownership;

/// How ingest shares its table and the topic with others.
public sealed interface IngestRole {

    /// The one process that writes this table: it reads all partitions.
    ///
    /// @param ownership which runs it takes; others on the same topic have tables of their own
    record Alone(Ownership ownership) implements IngestRole {}

    /// One of several processes that write this table, each from the partitions that the broker assigns to
    /// it. Takes every run that a trusted key certifies.
    record Member() implements IngestRole {}
}
