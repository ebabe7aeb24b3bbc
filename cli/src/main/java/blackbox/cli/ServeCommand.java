package blackbox.cli;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.KafkaClientOptions;
import blackbox.cli.options.ListenOptions;
import blackbox.cli.output.JsonOut;
import blackbox.cli.output.ServiceLog;
import blackbox.cli.terminal.ServiceNotice;
import blackbox.cli.terminal.ShutdownWait;
import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.log.NoteVerifier;
import blackbox.ingest.IngestException;
import blackbox.ingest.service.IngestStatus;
import blackbox.node.access.AccessLog;
import blackbox.node.access.ApiToken;
import blackbox.node.access.ApiTokens;
import blackbox.node.alert.Outbox;
import blackbox.node.data.LocalTrust;
import blackbox.node.data.TrustSource;
import blackbox.node.login.OidcLogin;
import blackbox.node.login.OidcSettings;
import blackbox.node.record.AnchorService;
import blackbox.node.record.KafkaSettings;
import blackbox.node.record.Pipeline;
import blackbox.node.record.PipelineLock;
import blackbox.node.record.ReadablePayloads;
import blackbox.node.replay.StartedReplays;
import blackbox.node.serve.ApiAddress;
import blackbox.node.serve.ApiContext;
import blackbox.node.serve.ApiServer;
import blackbox.node.verdict.IndexAhead;
import blackbox.recorder.RecorderException;
import blackbox.recorder.anchor.AnchorSettings;
import blackbox.recorder.keys.CertifiedKey;
import blackbox.recorder.keys.KeyAccess;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.recorder.keys.SecretFile;
import blackbox.recorder.keys.Secrets;
import blackbox.recorder.keys.WitnessKeyFile;
import blackbox.recorder.witness.Witness;
import blackbox.recorder.witness.WitnessLogs;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox serve`: runs ingest with its broker, and the HTTP API, until it is stopped.
@Command(
        name = "serve",
        description = "Ingest recordings and serve the HTTP API about them, until stopped.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox serve",
            "  curl -H \"Authorization: Bearer $(cat ~/.local/share/blackbox/api-token)\" \\",
            "      http://127.0.0.1:7575/api/v1/runs",
            "  blackbox token create anna --role auditor     (a token of her own; see also: blackbox access)",
            "  blackbox serve --listen 127.0.0.1:8080 --kafka broker-1:9092,broker-2:9092",
            "  blackbox serve --listen '[::]:7575' --tls-cert fullchain.pem --tls-key key.pem",
            "  blackbox serve --listen '[::]:7575' --name recorder.example",
            "  curl --cacert ~/.local/share/blackbox/keys/tls.crt https://recorder.example:7575/health",
            "  blackbox serve --listen '[::]:7575' --name recorder.example --oidc oidc.json",
            "  blackbox serve --witness logs.txt --tsa https://tsa.example/tsr"
        })
final class ServeCommand implements Callable<Integer> {

    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);
    private static final int REPLAYS_MAX = 64;
    /// The program that started this one, as it says itself.
    private static final String LAUNCHER = "BLACKBOX_LAUNCHER";
    /// What unlocks the keys that verdicts are signed with.
    private static final List<String> SECRET_FILES = List.of(Secrets.PASSPHRASE, Secrets.PIN);

    @Mixin
    private CommonOptions common;

    @Mixin
    private ListenOptions listening;

    @Option(
            names = "--kafka",
            paramLabel = "HOST:PORT[,…]",
            description = "Use this Kafka cluster instead of the embedded broker.")
    @Nullable
    private String kafka;

    @Mixin
    private KafkaClientOptions kafkaClient;

    @Option(
            names = "--witness",
            paramLabel = "FILE",
            description = "Act as a witness at /witness for the logs whose verifier keys are in FILE, one per line.")
    @Nullable
    private Path witness;

    @Option(
            names = "--tsa",
            paramLabel = "URL",
            description =
                    "A time-stamping authority to ask besides those in <data>/keys/anchors.conf; may be repeated.")
    private List<URI> authorities = new ArrayList<>();

    @Option(
            names = "--oidc",
            paramLabel = "FILE",
            description = "Let people log in to the console by the identity provider that FILE describes (OpenID"
                    + " Connect), besides those who have a token; see docs/LOGIN.md.")
    @Nullable
    private Path oidc;

    @Option(
            names = "--no-index",
            description = "Do not index exact runs for `replay --to`; indexing takes about as long as the run did.")
    private boolean noIndex;

    @Option(
            names = "--replays",
            paramLabel = "N",
            description =
                    "How many replays and landings that operators start over the API may run side by side, each with"
                            + " a machine of its own; 0 for none. Default: ${DEFAULT-VALUE}.")
    private int replays = 1;

    @Option(
            names = "--log",
            paramLabel = "FORM",
            defaultValue = "text",
            description = "What happens is said on standard error in sentences (text), or as a JSON object on each"
                    + " line (json). Default: ${DEFAULT-VALUE}.")
    private String log = "text";

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, IngestException, RecorderException, InterruptedException {
        ServiceLog say = ServiceLog.in(log, spec.commandLine().getErr());
        ServiceNotice notice = ServiceNotice.ofEnvironment(say::warn);
        DataFolder data = common.ownDataFolder();
        ApiAddress address = listening.address();
        listening.check(address);
        if (replays < 0 || replays > REPLAYS_MAX) {
            throw CommandException.badInput("--replays takes a number from 0 to " + REPLAYS_MAX + ", not " + replays);
        }
        KafkaSettings broker = kafkaClient.settings(kafka, KafkaSettings.Ingest.HERE);
        PipelineLock lock = PipelineLock.tryTake(data);
        if (lock == null) {
            throw CommandException.failed(
                    "another `serve`, or a `record`, is ingesting recordings into " + data.root()
                            + "; wait for it or stop it",
                    null);
        }
        AnchorSettings anchors = AnchorSettings.read(data, authorities);
        List<NoteVerifier> witnessed = witness == null ? List.of() : witnessedLogs(witness);
        Path tokenFile = data.apiToken();
        OidcLogin login = oidc == null ? null : new OidcLogin(OidcSettings.read(oidc));
        CertifiedKey tls = listening.tls(data, address, KeyAccess.system(), say::warn);
        ShutdownWait stop = ShutdownWait.onShutdown(notice::stopping);
        // The API starts first: it answers from files, and the broker takes seconds.
        var tokens = new ApiTokens(
                data, ApiToken.loadOrCreate(tokenFile, new SecureRandom()), InstantSource.system(), say::warn);
        var ingest = new AtomicReference<@Nullable Pipeline>();
        try (Witness witnessing = witness == null ? null : openWitness(data, witnessed);
                AccessLog access = AccessLog.open(data, tokens, say::warn);
                StartedReplays started = startedReplays(data);
                ApiServer api = ApiServer.start(
                        context(data, tokens, access, ingest, started, witnessing, login), address, tls)) {
            announce(say, api, tokenFile, tls, witnessing);
            notice.ready();
            try (AnchorService _ = AnchorService.start(data, anchors, say::warn);
                    Outbox _ = Outbox.open(data, say::warn);
                    Pipeline pipeline = Pipeline.start(lock, data, broker)) {
                access.publish(pipeline.publisher());
                ingest.set(pipeline);
                pipeline.recover(data);
                try (ReadablePayloads _ = ReadablePayloads.ofKilled(data, PayloadKeyFile.vault(data), say::warn);
                        IndexAhead _ = noIndex ? null : IndexAhead.start(data, say::warn)) {
                    awaitStop(stop, pipeline, say);
                    started.cancelAll(); // they end while the rest is closed
                } finally {
                    access.stopPublishing();
                }
            }
        } catch (RuntimeException | Error e) {
            // What was still starting cannot register a shutdown hook once the shutdown has begun.
            if (!stop.isAsked()) {
                throw e;
            }
        } finally {
            stop.closed();
        }
        return ExitCodes.OK;
    }

    /// Says meanwhile what keeps ingest from working.
    private static void awaitStop(ShutdownWait stop, Pipeline pipeline, ServiceLog say) throws InterruptedException {
        String said = null;
        while (!stop.await(LOOK_EVERY)) {
            String trouble = pipeline.ingest().status().trouble();
            if (trouble != null && !trouble.equals(said)) {
                say.warn("recordings are not ingested: " + trouble);
            } else if (trouble == null && said != null) {
                say.info("recordings are ingested again");
            }
            said = trouble;
        }
    }

    private static ApiContext context(
            DataFolder data,
            ApiTokens tokens,
            AccessLog access,
            AtomicReference<@Nullable Pipeline> pipeline,
            StartedReplays replays,
            @Nullable Witness witness,
            @Nullable OidcLogin login)
            throws IOException {
        Supplier<@Nullable IngestStatus> ingest = () -> {
            Pipeline running = pipeline.get();
            return running == null ? null : running.ingest().status();
        };
        return new ApiContext(
                data, new LocalTrust(data).recordings(), trust(data), tokens, access, ingest, replays, witness, login);
    }

    private StartedReplays startedReplays(DataFolder data) {
        String launcher = System.getenv(LAUNCHER);
        String secret = SECRET_FILES.stream()
                .filter(name -> System.getenv(name) != null && SecretFile.isReadOnce(Path.of(System.getenv(name))))
                .findFirst()
                .orElse(null);
        String whyNone = null;
        if (replays == 0) {
            whyNone = "this service starts no replays (`serve --replays 0`)";
        } else if (launcher == null || launcher.isEmpty()) {
            whyNone = "this service does not know the program that it is; start it as `blackbox serve`";
        } else if (secret != null) {
            whyNone = secret + " names what can be read once, by this service; a replay could not sign its verdict:"
                    + " name a file there";
        }
        return new StartedReplays(
                launcher == null ? List.of() : List.of(launcher),
                data,
                Math.max(1, replays),
                whyNone,
                InstantSource.system());
    }

    private static TrustSource trust(DataFolder data) {
        return new TrustSource() {
            @Override
            public List<NoteVerifier> read() throws IOException {
                return new LocalTrust(data).believedKeys();
            }

            @Override
            public AnchorTrust anchors() throws IOException {
                return new LocalTrust(data).anchorTrust();
            }
        };
    }

    private static List<NoteVerifier> witnessedLogs(Path file) {
        try {
            List<NoteVerifier> logs = WitnessLogs.parse(Files.readString(file));
            if (!logs.isEmpty()) {
                return logs;
            }
        } catch (IOException | IllegalArgumentException e) {
            throw CommandException.badInput("the file " + file + " is not a list of verifier keys: " + e.getMessage());
        }
        throw CommandException.badInput("the file " + file + " lists no log; it needs one verifier key per line");
    }

    private static Witness openWitness(DataFolder data, List<NoteVerifier> logs) throws RecorderException {
        KeyAccess access = KeyAccess.system();
        return Witness.open(data.witness(), WitnessKeyFile.loadOrCreate(data.witness(), access), logs, access.clock());
    }

    private static String console(ApiServer api) {
        return api.uri() + "/console";
    }

    private void announce(
            ServiceLog say, ApiServer api, Path tokenFile, @Nullable CertifiedKey tls, @Nullable Witness witness)
            throws IOException {
        say.started("listening on " + api.uri() + "; the token is in " + tokenFile);
        say.started("the console is at " + console(api));
        if (tls != null) {
            say.started("the certificate's SHA-256 fingerprint is " + tls.fingerprint());
        }
        if (witness != null) {
            say.started("acting as a witness at " + api.uri() + "/witness with the key "
                    + witness.verifier().encoded());
        }
        if (common.json()) {
            PrintWriter out = spec.commandLine().getOut();
            JsonOut.document(out, json -> {
                json.writeStartObject();
                json.writeStringField("listening", api.uri().toString());
                json.writeStringField("console", console(api));
                json.writeStringField("tokenFile", tokenFile.toString());
                if (tls != null) {
                    json.writeStringField("certificateSha256", tls.fingerprint());
                }
                if (witness != null) {
                    json.writeStringField("witness", witness.verifier().encoded());
                }
                json.writeEndObject();
            });
        }
    }
}
