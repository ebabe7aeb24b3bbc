package blackbox.node.record;

import blackbox.evidence.log.NoteVerifier;
import blackbox.ingest.IngestException;
import blackbox.ingest.service.IngestRole;
import blackbox.ingest.service.IngestService;
import blackbox.ingest.service.IngestSettings;
import blackbox.ingest.service.IngestSettings.TopicRetention;
import blackbox.node.data.DataFiles;
import blackbox.node.data.LocalTrust;
import blackbox.recorder.RecorderException;
import blackbox.recorder.keys.KeyFile;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/// Ingest as one of several processes that share a data folder and a Kafka cluster; nothing is recorded there.
public final class IngestMember {

    private IngestMember() {}

    /// Starts one; it ends when it is closed.
    ///
    /// @param further keys of logs of runs that are trusted, besides those in the data folder
    /// @throws IngestException `IN_USE` when `serve` or `record` ingests there, `BROKER` when the cluster
    ///     cannot be used
    public static IngestService start(DataFolder data, KafkaSettings kafka, List<NoteVerifier> further)
            throws IngestException, RecorderException, IOException {
        return IngestService.start(new IngestSettings(
                data.root(),
                DataFiles.of(data),
                kafka.clients(null),
                TopicRetention.KEEP,
                trust(data, further),
                KeyFile.ofIngest(data),
                new IngestRole.Member()));
    }

    private static Supplier<List<NoteVerifier>> trust(DataFolder data, List<NoteVerifier> further) {
        return () -> {
            try {
                var trusted = new ArrayList<>(new LocalTrust(data).trustedKeys());
                trusted.addAll(further);
                return List.copyOf(trusted);
            } catch (IOException e) {
                throw new UncheckedIOException("the public keys in " + data.keys() + " cannot be read", e);
            }
        };
    }
}
