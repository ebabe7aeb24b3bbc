package blackbox.node.record;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/// Which Kafka to use, as the user configured it.
///
/// @param servers `HOST:PORT[,…]` of a real cluster, or null for the embedded broker
/// @param properties file with further client settings (TLS, SASL), passed through as they are, or null
/// @param ingest where batches are brought into a table
public record KafkaSettings(
        @Nullable String servers, @Nullable Path properties, Ingest ingest) {

    /// The embedded broker.
    public static final KafkaSettings EMBEDDED = new KafkaSettings(null, null, Ingest.HERE);

    /// Where batches are brought into a table.
    public enum Ingest {
        /// In this process, or in another one of the same data folder.
        HERE,
        /// Wherever `blackbox ingest` reads the same cluster.
        ELSEWHERE
    }

    static final String SERVERS = "bootstrap.servers";

    /// Client settings for the cluster, or for the embedded broker at `embedded`.
    Properties clients(@Nullable String embedded) throws IOException {
        var clients = new Properties();
        if (properties != null) {
            try (Reader in = Files.newBufferedReader(properties)) {
                clients.load(in);
            }
        }
        String chosen = servers == null ? embedded : servers;
        if (chosen != null) {
            clients.setProperty(SERVERS, chosen);
        }
        return clients;
    }
}
