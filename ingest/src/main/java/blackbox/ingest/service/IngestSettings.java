package blackbox.ingest.service;

import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.storage.FileStore;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Properties;
import java.util.function.Supplier;

/// What ingest works with.
///
/// @param data the data folder
/// @param files where data files and their seals go
/// @param clients Kafka's client settings: `bootstrap.servers` and, for a real cluster, TLS and SASL
/// @param retention what happens to records in the topic once they are in the table
/// @param trusted whose signatures are accepted at the moment; queried again for each run that begins,
///     because keys are rotated while ingest runs
/// @param signer signs data files; used by the writer's thread only
/// @param role whether it has table and topic to itself
public record IngestSettings(
        Path data,
        FileStore files,
        Properties clients,
        TopicRetention retention,
        Supplier<? extends Collection<? extends NoteVerifier>> trusted,
        NoteSigner signer,
        IngestRole role) {

    /// What happens to records in the topic once they are in the table.
    public enum TopicRetention {
        /// The cluster's own rules decide.
        KEEP,
        /// They are dropped at intervals: for the embedded broker, which would otherwise fill the disk.
        RELEASE_COMMITTED
    }
}
