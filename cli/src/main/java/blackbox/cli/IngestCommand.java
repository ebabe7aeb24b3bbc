package blackbox.cli;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.KafkaClientOptions;
import blackbox.cli.output.JsonOut;
import blackbox.cli.terminal.ShutdownWait;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.ingest.IngestException;
import blackbox.ingest.service.IngestService;
import blackbox.ingest.service.IngestStatus;
import blackbox.ingest.service.IngestStatus.Phase;
import blackbox.node.record.IngestMember;
import blackbox.node.record.KafkaSettings;
import blackbox.recorder.RecorderException;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox ingest`: one of any number of processes that bring what recorders publish into one table.
@Command(
        name = "ingest",
        description = "Bring runs that other hosts record from Kafka into the table here, together with others.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox ingest --kafka broker-1:9092,broker-2:9092 --trust host-a.pub --trust host-b.pub",
            "  blackbox ingest --kafka broker-1:9092 --trust host-a.pub --json | jq .rows",
            "  blackbox record --kafka broker-1:9092 --recorder-only -- make test   (on host A; its key is keys/log.pub)",
            "",
            "Any number of these processes may share a data folder: the broker divides the topic's partitions between them,",
            "and each event is in the table once, whichever of them is killed and whenever. `serve` and `record` ingest by",
            "themselves and cannot use the same data folder meanwhile. Runs that no trusted key certifies are passed over.",
            "After `keys rotate` on a recorder, start these processes with its new keys/log.pub as well (the old one stays)",
            "before its next run: what the unknown key certifies is refused and stays in quarantine/.",
            "The topic is made with the cluster's own default.replication.factor and min.insync.replicas. Kafka's own defaults are",
            "1 and 1; with 3 and 2, what was acknowledged outlives a broker.",
            "`verify` needs the log of runs of the host that recorded: where that is one host, copy its folder log and its",
            "keys/log.pub here (then --trust is not needed); runs of several hosts cannot be verified in one folder yet."
        })
final class IngestCommand implements Callable<Integer> {

    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

    @Mixin
    private CommonOptions common;

    @Option(
            names = "--kafka",
            paramLabel = "HOST:PORT[,…]",
            required = true,
            description = "The Kafka cluster that the recorders publish to.")
    private String kafka = "";

    @Mixin
    private KafkaClientOptions kafkaClient;

    @Option(
            names = "--trust",
            paramLabel = "FILE",
            description =
                    "The public key of a recorder's log of runs (its keys/log.pub), besides those in the data folder; may be"
                            + " repeated.")
    private List<Path> trusted = new ArrayList<>();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, IngestException, RecorderException, InterruptedException {
        DataFolder data = common.ownDataFolder();
        KafkaSettings settings = kafkaClient.settings(kafka, KafkaSettings.Ingest.HERE);
        List<NoteVerifier> keys = trusted.stream().map(IngestCommand::key).toList();
        ShutdownWait stop = ShutdownWait.onShutdown(() -> {});
        try (IngestService ingest = IngestMember.start(data, settings, keys)) {
            tell("ingesting from " + settings.servers() + " into " + data.root() + " until stopped");
            IngestStatus last = null;
            while (!stop.await(LOOK_EVERY)) {
                IngestStatus now = ingest.status();
                if (now.isNews(last)) {
                    say(now, last);
                    last = now;
                }
                if (now.phase() == Phase.FAILED) {
                    throw CommandException.failed(String.valueOf(now.trouble()), null);
                }
            }
        } finally {
            stop.closed();
        }
        return ExitCodes.OK;
    }

    private static NoteVerifier key(Path file) {
        try {
            return NoteVerifiers.parse(Files.readString(file));
        } catch (IOException | IllegalArgumentException e) {
            throw CommandException.badInput("there is no public key in " + file + ": " + e.getMessage());
        }
    }

    private void say(IngestStatus now, @Nullable IngestStatus last) throws IOException {
        String trouble = now.trouble();
        if (trouble != null && (last == null || !trouble.equals(last.trouble()))) {
            tell(trouble);
        }
        if (common.json()) {
            JsonOut.document(spec.commandLine().getOut(), json -> {
                json.writeStartObject();
                json.writeStringField("phase", now.phase().name());
                json.writeStringField("trouble", trouble);
                json.writeNumberField("rows", now.rows());
                json.writeNumberField("bytes", now.bytes());
                json.writeNumberField("commits", now.commits());
                json.writeNumberField("batches", now.batches());
                json.writeNumberField("known", now.known());
                json.writeNumberField("foreign", now.foreign());
                json.writeNumberField("refused", now.refused());
                json.writeNumberField("unread", now.unread());
                json.writeNumberField("waitingSeconds", now.waiting().toMillis() / 1_000.0);
                json.writeEndObject();
            });
        } else if (last == null || now.commits() > last.commits() || now.refused() > last.refused()) {
            tell(now.rows() + " events committed; batches: " + now.batches() + " accepted, " + now.known()
                    + " known before, " + now.foreign() + " of runs that no trusted key certifies, " + now.refused()
                    + " refused");
        }
    }

    private void tell(String line) {
        spec.commandLine().getErr().println("blackbox: " + line);
    }
}
