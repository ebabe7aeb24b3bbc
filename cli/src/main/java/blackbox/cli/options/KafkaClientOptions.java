package blackbox.cli.options;

import blackbox.cli.exit.CommandException;
import blackbox.node.record.KafkaSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// How commands reach a Kafka cluster, beyond its address.
public final class KafkaClientOptions {

    private static final Pattern ADDRESS =
            Pattern.compile("(?:\\[[\\p{XDigit}:.]+(?:%[\\p{Alnum}._-]+)?]|[\\p{Alnum}._-]+):(\\d{1,5})");
    private static final int PORT_MAX = 65_535;

    @Option(
            names = "--kafka-properties",
            paramLabel = "FILE",
            description = "Further Kafka client settings (TLS, SASL).")
    @Nullable
    private Path properties;

    /// The settings for the cluster at `servers`, or for the embedded broker if that is null.
    ///
    /// @throws CommandException bad input, when an address is none or the file of further settings cannot be read
    public KafkaSettings settings(@Nullable String servers, KafkaSettings.Ingest ingest) {
        if (properties != null && !(Files.isReadable(properties) && Files.isRegularFile(properties))) {
            throw CommandException.badInput("the file " + properties + " cannot be read");
        }
        return new KafkaSettings(servers == null ? null : checked(servers), properties, ingest);
    }

    /// Checks the form of each address before anything starts; Kafka would do so once a run is on its way.
    /// Whether there is such a host is not asked: Kafka passes over names that it cannot resolve.
    static String checked(String servers) {
        String[] addresses = servers.strip().split("\\s*,\\s*", -1);
        for (String address : addresses) {
            Matcher matcher = ADDRESS.matcher(address);
            if (!matcher.matches()) {
                throw CommandException.badInput("--kafka: '" + address + "' is not the address of a broker; write"
                        + " HOST:PORT, and commas between several: broker-1:9092,broker-2:9092");
            }
            int port = Integer.parseInt(matcher.group(1));
            if (port == 0 || port > PORT_MAX) {
                throw CommandException.badInput(
                        "--kafka: there is no port " + port + " ('" + address + "'); ports are from 1 to " + PORT_MAX);
            }
        }
        return String.join(",", addresses);
    }
}
