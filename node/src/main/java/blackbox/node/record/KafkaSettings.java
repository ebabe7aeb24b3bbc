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

    /// Client settings for the cluster, or else for the broker that `embedded` are the settings of.
    Properties clients(@Nullable Properties embedded) throws IOException {
        var clients = new Properties();
        if (properties != null) {
            try (Reader in = Files.newBufferedReader(properties)) {
                clients.load(in);
            }
        }
        if (servers != null) {
            clients.setProperty(SERVERS, servers);
        } else if (embedded != null) {
            clients.putAll(embedded);
        }
        return clients;
    }

    /// Of a cluster's settings what others may have, too: how one gets in is up to each.
    static Properties addressOf(Properties clients) {
        var address = new Properties();
        address.setProperty(SERVERS, clients.getProperty(SERVERS));
        return address;
    }
}
