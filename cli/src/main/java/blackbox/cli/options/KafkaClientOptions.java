package blackbox.cli.options;

import blackbox.cli.exit.CommandException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// How commands reach a Kafka cluster, beyond its address.
public final class KafkaClientOptions {

    @Option(
            names = "--kafka-properties",
            paramLabel = "FILE",
            description = "Further Kafka client settings (TLS, SASL).")
    @Nullable
    private Path properties;

    /// The file of further settings, or null.
    ///
    /// @throws CommandException bad input, when it cannot be read
    public @Nullable Path properties() {
        if (properties != null && !(Files.isReadable(properties) && Files.isRegularFile(properties))) {
            throw CommandException.badInput("the file " + properties + " cannot be read");
        }
        return properties;
    }
}
