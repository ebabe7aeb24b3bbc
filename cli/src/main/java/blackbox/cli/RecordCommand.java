package blackbox.cli;

import blackbox.cli.egress.PolicyFile;
import blackbox.cli.exit.CommandException;
import blackbox.cli.options.AlertChoices;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.ConfinementOption;
import blackbox.cli.options.DurationConverter;
import blackbox.cli.options.KafkaClientOptions;
import blackbox.cli.options.SecretOptions;
import blackbox.cli.options.SizeConverter;
import blackbox.cli.options.VariableOptions;
import blackbox.cli.terminal.Interrupts;
import blackbox.cli.terminal.LocalTerminal;
import blackbox.cli.terminal.Narrator;
import blackbox.cli.terminal.Signals;
import blackbox.evidence.text.Timestamps;
import blackbox.evidence.verify.Losses;
import blackbox.node.egress.EgressRequest;
import blackbox.node.egress.GatewayPolicy;
import blackbox.node.image.LocalImages;
import blackbox.node.record.KafkaSettings;
import blackbox.node.record.KafkaSettings.Ingest;
import blackbox.node.record.RecordListener;
import blackbox.node.record.RecordRequest;
import blackbox.node.record.RecordResult;
import blackbox.node.record.RecordSession;
import blackbox.node.record.StandardStreams;
import blackbox.policy.Policy;
import blackbox.recorder.capture.CaptureLimits;
import blackbox.schemas.OctetText;
import blackbox.vm.machine.AgentLimits;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.Terminal;
import blackbox.vm.machine.TierOption;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `blackbox record`: runs a command in a VM and records it. Exit code: the agent's own; 125 when Blackbox
/// failed.
@Command(
        name = "record",
        description = "Run a command in a VM and record what it does.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox record -- bash -c 'echo hello > greeting'",
            "  blackbox record --workspace . --timeout 10m --name nightly -- make test",
            "  blackbox record -t -- bash              (in this terminal; exit or ctrl-D ends it)",
            "  blackbox record --tier exact -- make test   (fail rather than record live)",
            "  blackbox record --network user -- curl http://10.0.2.2:8080/   (10.0.2.2 is this host's loopback)",
            "  blackbox record --policy policy.yaml -- npm ci    (only what policy.yaml allows)",
            "  blackbox record --policy policy.yaml --secret anthropic=env:ANTHROPIC_API_KEY -- ./agent",
            "      (the agent's ANTHROPIC_API_KEY is a surrogate; only the gateway has the key, for the rule that names it)",
            "  blackbox record --rules agents --pause-on high -- ./agent   (alerts are sealed, and stop it)",
            "  blackbox record --kafka broker-1:9092 --recorder-only -- make test   (`blackbox ingest` has the table)",
            "",
            "The VM gets a copy of the workspace, and the result comes back as another copy; your own files are not changed.",
            "Exit code: the command's own; 125 when Blackbox itself failed; 124 when the timeout was reached."
        })
public final class RecordCommand implements Callable<Integer> {

    private static final Duration SILENCE_MAX_LEAST = Duration.ofSeconds(10);

    /// Linux's upper bound for process ids (PID_MAX_LIMIT).
    private static final int PIDS_MAX = 1 << 22;

    /// Below what the gateway waits for any verdict.
    private static final int HOLD_MS_MAX = 9_000;

    @Mixin
    CommonOptions common = new CommonOptions();

    @Mixin
    ConfinementOption confinement = new ConfinementOption();

    @Option(
            names = "--image",
            paramLabel = "NAME",
            defaultValue = LocalImages.DEFAULT,
            description = "Guest image (default: ${DEFAULT-VALUE}).")
    String image = LocalImages.DEFAULT;

    @Option(
            names = "--tier",
            paramLabel = "TIER",
            defaultValue = "auto",
            description =
                    "exact: replays execute every instruction as recorded; live: full speed, replays execute the command again;"
                            + " auto: exact where the guest is emulated anyway, else live (default: ${DEFAULT-VALUE}).")
    String tier = "auto";

    @Option(
            names = "--workspace",
            paramLabel = "DIR",
            description = "Folder to copy into the VM; it comes back as another copy.")
    @Nullable
    Path workspace;

    @Mixin
    VariableOptions variables;

    @Mixin
    SecretOptions secrets;

    @Mixin
    AlertChoices alerts;

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            converter = DurationConverter.class,
            description = "End the command after this long (90s, 10m, 2h).")
    @Nullable
    Duration timeout;

    @Option(
            names = "--silence-max",
            paramLabel = "DURATION",
            converter = DurationConverter.class,
            description = "End the VM when nothing has been heard of its tracer for this long: a guest that hangs would"
                    + " run forever, unrecorded (default: 5m; at least 10s, and 30s in the exact tier).")
    Duration silenceMax = RecordRequest.SILENCE_MAX;

    @Option(names = "--name", paramLabel = "TEXT", description = "A name for the run.")
    @Nullable
    String name;

    @Option(
            names = "--network",
            paramLabel = "NET",
            description =
                    "none; gateway: what --policy allows, each decision recorded; or user: whatever this host reaches, with"
                            + " 10.0.2.2 as its loopback (default: gateway with --policy, else none).")
    @Nullable
    String network;

    @Option(
            names = "--policy",
            paramLabel = "FILE",
            description =
                    "What the command may reach, a YAML file; see `blackbox egress --help`. Nothing else is let through.")
    @Nullable
    Path policy;

    @Option(
            names = "--upstream-ca",
            paramLabel = "FILE",
            description =
                    "Certificates (PEM) of authorities that the gateway trusts beside this host's own, for servers"
                            + " of your own.")
    @Nullable
    Path upstreamCa;

    @Option(
            names = "--hold-max",
            paramLabel = "MS",
            description =
                    "With 'hold: connect' in the policy: how many milliseconds a connection waits for the guest's tracer to"
                            + " tell of it, before it is refused (default: 5000). Likewise one that a rule with 'process'"
                            + " may concern, before its program is taken for unknown.")
    @Nullable
    Integer holdMs;

    @Option(
            names = "--user",
            paramLabel = "USER",
            defaultValue = "agent",
            description = "agent or root (default: ${DEFAULT-VALUE}).")
    String user = "agent";

    @Option(
            names = {"-t", "--tty"},
            description =
                    "Give the command a terminal instead of pipes, with this one's size, type and keys, ctrl-C included."
                            + " What it shows is recorded: blackbox export RUN --format asciicast.")
    boolean tty;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "The VM's memory (2G, 512M; default: ${DEFAULT-VALUE}). An agent on Node wants 2G to 4G.",
            defaultValue = "1G")
    long memory = (long) MachineSize.DEFAULT.memoryMib() << 20;

    @Option(
            names = "--cpus",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "The VM's processors (default: ${DEFAULT-VALUE}). With more than one, the run is recorded live.")
    int cpus = 1;

    @Option(
            names = "--pids",
            paramLabel = "N",
            defaultValue = "0",
            description = "The most processes and threads that the command may have at once (default: no limit).")
    int pids;

    @Option(
            names = "--disk",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description =
                    "What the VM's disk holds besides the image: the workspace that goes in and all that the command writes"
                            + " (16M to 15G; default: ${DEFAULT-VALUE}). Beyond that the command gets \"No space left on device\".",
            defaultValue = "8G")
    long disk = AgentLimits.DISK_BYTES_DEFAULT;

    @Option(
            names = "--disk-log-max",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description =
                    "Keep at most this much of what is written to the VM's disk, for `blackbox disk`; moments after"
                            + " that cannot be shown (512M, 20G; default: 4G).")
    long diskLogMax = CaptureLimits.DEFAULT.diskLogBytesMax();

    @Option(
            names = "--frames-max",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description =
                    "Keep at most this much of the network frames, and as much of the workspace that goes in and of standard"
                            + " input, for `blackbox replay`; they are payloads and may contain secrets (0 keeps none; default: 1G).")
    long framesMax = CaptureLimits.DEFAULT.framesBytesMax();

    @Option(
            names = "--output-max",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description =
                    "Keep at most this much of what the command prints, on standard output and on standard error each, for"
                            + " `blackbox output` and to compare replays with; it may contain secrets (default: 64M). With 0, what a terminal shows is still kept (--frames-max"
                            + " 0), and in the exact tier what the machine was given and gave.")
    long outputMax = CaptureLimits.DEFAULT.outputBytesMax();

    @Option(
            names = "--kafka",
            paramLabel = "HOST:PORT[,…]",
            description = "Publish to this Kafka cluster instead of the embedded broker.")
    @Nullable
    String kafka;

    @Mixin
    private KafkaClientOptions kafkaClient;

    @Option(
            names = "--recorder-only",
            description =
                    "Publish the run to --kafka and do not bring it into a table here: `blackbox ingest` does that elsewhere.")
    boolean recorderOnly;

    @Parameters(paramLabel = "COMMAND", arity = "1..*", description = "What to run, after --.")
    List<String> command = new ArrayList<>();

    @Override
    public Integer call() throws Exception {
        if (recorderOnly && kafka == null) {
            throw CommandException.badInput("--recorder-only needs --kafka HOST:PORT, where the run is to go");
        }
        RecordResult result;
        if (tty) {
            try (var terminal = LocalTerminal.ofStandardInput()) {
                result = record(request(terminal.shape()), terminal);
            }
        } else {
            result = record(request(null), null);
        }
        if (common.json()) {
            System.err.println(json(result));
        } else {
            System.err.println("blackbox: run " + result.run() + " recorded: " + result.events() + " events, "
                    + result.losses().inWords() + "; " + where(result));
        }
        return result.exitCode();
    }

    private String where(RecordResult result) {
        if (!recorderOnly) {
            return "see: blackbox touched " + result.run();
        }
        return result.place() == RecordResult.Place.BROKER
                ? "it is in Kafka at " + kafka + ", from where `blackbox ingest` brings it into a table"
                : "it is in the spool here; the next `blackbox record --kafka` publishes it";
    }

    private RecordResult record(RecordRequest request, @Nullable LocalTerminal terminal) throws Exception {
        KafkaSettings broker = kafkaClient.settings(kafka, recorderOnly ? Ingest.ELSEWHERE : Ingest.HERE);
        try (var narrator = Narrator.onStandardError()) {
            var session = new RecordSession(
                    common.ownDataFolder(),
                    request,
                    broker,
                    StandardStreams.own(),
                    quietOnceStarted(narrator, terminal));
            try (Interrupts _ = Interrupts.handledBy(
                            signal -> interrupt(session, terminal, signal),
                            terminal == null ? () -> {} : terminal::restore);
                    Signals _ =
                            terminal == null ? Signals.on(List.of(), _ -> {}) : terminal.onResize(session::resize)) {
                return session.run();
            }
        }
    }

    /// Before the agent starts and after it has ended there is nothing to wait for: the process ends, and its
    /// shutdown hooks leave things tidy.
    private static void interrupt(RecordSession session, @Nullable LocalTerminal terminal, int signal) {
        if (terminal != null) {
            terminal.restore();
        }
        if (!session.interrupt(signal)) {
            System.exit(128 + signal);
        }
    }

    /// While the agent runs, the terminal belongs to it.
    private static RecordListener quietOnceStarted(Narrator narrator, @Nullable LocalTerminal terminal) {
        return new RecordListener() {
            @Override
            public void say(String line) {
                narrator.say(line);
            }

            @Override
            public void agentStarts() {
                narrator.fallSilent();
                if (terminal != null) {
                    terminal.makeRaw();
                }
            }

            @Override
            public void agentEnded() {
                if (terminal != null) {
                    terminal.restore();
                }
                narrator.speakAgain("copying the workspace back and closing the run");
            }
        };
    }

    private RecordRequest request(@Nullable Terminal terminal) {
        if (silenceMax.compareTo(SILENCE_MAX_LEAST) < 0) {
            throw CommandException.badInput("--silence-max is at least " + SILENCE_MAX_LEAST.toSeconds()
                    + "s: a guest on a busy host may be quiet for some seconds");
        }
        if (workspace != null && !Files.isDirectory(workspace)) {
            throw CommandException.badInput("the workspace " + workspace + " is not a folder");
        }
        if (!user.equals("agent") && !user.equals("root")) {
            throw CommandException.badInput("there is no user '" + user + "' in the guest; choose agent or root");
        }
        if (diskLogMax == 0) {
            throw CommandException.badInput("--disk-log-max cannot be 0; give a size such as 512M");
        }
        if (name != null
                && (name.isBlank()
                        || name.length() > 200
                        || !OctetText.isText(name)
                        || name.chars().anyMatch(c -> c < ' '))) {
            throw CommandException.badInput("--name takes 1 to 200 printable characters");
        }
        Network reachable = networkChoice();
        EgressRequest egress = egress(reachable);
        Map<String, String> environment = environment(egress);
        if (!environment.keySet().stream().allMatch(OctetText::isText)) {
            throw CommandException.badInput(
                    "the name of an environment variable is not valid UTF-8; only a value may hold arbitrary bytes");
        }
        int given = RecordRequest.givenBytes(command, environment.keySet());
        if (given > RecordRequest.GIVEN_BYTES_MAX) {
            throw CommandException.badInput(
                    "the command has " + given + " bytes, more than the run's first event can hold, which is "
                            + RecordRequest.GIVEN_BYTES_MAX + "; move long arguments into a file in the workspace");
        }
        TierOption option = tierOption(cpus > 1 && tier.equals("auto") ? "live" : tier);
        var guest = new RecordRequest.Guest(image, option, size(), reachable, egress);
        var agent = new RecordRequest.Agent(command, environment, user, agentLimits(), terminal, timeout, silenceMax);
        var limits = new CaptureLimits(diskLogMax, framesMax, outputMax);
        return new RecordRequest(
                name, agent, workspace, guest, limits, alerts.read(line -> System.err.println("blackbox: " + line)));
    }

    private Map<String, String> environment(@Nullable EgressRequest egress) {
        var environment = new TreeMap<>(variables.values());
        if (egress != null) {
            egress.secrets().surrogates().forEach((variable, surrogate) -> {
                if (environment.put(variable, surrogate) != null) {
                    throw CommandException.badInput("the variable " + variable + " is to have a secret's surrogate, and"
                            + " --env or --env-file gives it a value; leave that out, or give the secret another"
                            + " variable with --secret-env NAME=ID");
                }
            });
        }
        return environment;
    }

    private MachineSize size() {
        long mib = memory >> 20;
        if (mib < MachineSize.MEMORY_MIB_MIN || mib > MachineSize.MEMORY_MIB_MAX) {
            throw CommandException.badInput("--memory takes 256M to 64G, not " + memory + " bytes");
        }
        if (cpus < 1 || cpus > MachineSize.CPUS_MAX) {
            throw CommandException.badInput("--cpus takes 1 to " + MachineSize.CPUS_MAX + ", not " + cpus);
        }
        if (cpus > 1 && tier.equals("exact")) {
            throw CommandException.badInput(
                    "the exact tier counts the instructions of one processor; leave out --cpus, or add --tier live");
        }
        return new MachineSize((int) mib, cpus);
    }

    private AgentLimits agentLimits() {
        if (pids < 0 || pids > PIDS_MAX) {
            throw CommandException.badInput("--pids takes 1 to " + PIDS_MAX + ", not " + pids);
        }
        if (disk < AgentLimits.DISK_BYTES_MIN || disk > AgentLimits.DISK_BYTES_MAX) {
            throw CommandException.badInput("--disk takes 16M to 15G, not " + disk + " bytes");
        }
        return new AgentLimits(pids, disk);
    }

    static TierOption tierOption(String tier) {
        for (TierOption each : TierOption.values()) {
            if (each.label().equals(tier)) {
                return each;
            }
        }
        throw CommandException.badInput("there is no tier '" + tier + "'; choose auto, live or exact");
    }

    private Network networkChoice() {
        if (network == null) {
            return policy == null ? Network.NONE : Network.GATEWAY;
        }
        return switch (network.toLowerCase(Locale.ROOT)) {
            case "none" -> Network.NONE;
            case "user" -> Network.USER;
            case "gateway" -> Network.GATEWAY;
            default ->
                throw CommandException.badInput("there is no network '" + network + "'; choose none, gateway or user");
        };
    }

    private @Nullable EgressRequest egress(Network reachable) {
        if (policy == null) {
            if (secrets.areGiven()) {
                throw CommandException.badInput(
                        "--secret and --secret-env are for the egress gateway: add --policy FILE");
            }
            if (upstreamCa != null) {
                throw CommandException.badInput("--upstream-ca is for the egress gateway: add --policy FILE");
            }
            if (holdMs != null) {
                throw CommandException.badInput("--hold-max is for the egress gateway: add --policy FILE");
            }
            if (reachable == Network.GATEWAY) {
                throw CommandException.badInput(
                        "--network gateway needs a policy: add --policy FILE; `blackbox egress suggest RUN` writes one from"
                                + " what a run did");
            }
            return null;
        }
        if (reachable != Network.GATEWAY) {
            throw CommandException.badInput(
                    "--policy is for the egress gateway; leave out --network, or choose --network gateway");
        }
        Policy read = PolicyFile.policy(policy);
        List<String> beyond = GatewayPolicy.beyond(read);
        if (!beyond.isEmpty()) {
            throw CommandException.badInput("the gateway cannot hold all of " + policy + ": "
                    + String.join("; ", beyond) + ". Mend the policy, or take these out of it, to record under it");
        }
        try {
            return EgressRequest.of(read, upstreamCa, secrets.read(read), holdMax(read));
        } catch (IOException e) {
            throw CommandException.badInput((upstreamCa == null ? "" : "--upstream-ca: ") + e.getMessage());
        }
    }

    private Duration holdMax(Policy read) {
        if (holdMs == null) {
            return EgressRequest.HOLD_MAX;
        }
        if (!read.asksGuest()) {
            throw CommandException.badInput(
                    "--hold-max is for a policy that has connections wait for the guest's word: with 'hold: connect', or"
                            + " with a rule for a program ('process'); " + policy + " has neither");
        }
        if (holdMs < 1 || holdMs > HOLD_MS_MAX) {
            throw CommandException.badInput("--hold-max is 1 to " + HOLD_MS_MAX + " milliseconds");
        }
        return Duration.ofMillis(holdMs);
    }

    private static String json(RecordResult result) throws Exception {
        ObjectNode node = new ObjectMapper().createObjectNode();
        node.put("run", result.run().value())
                .put("name", result.name())
                .put("tier", result.tier().tier().label());
        node.put("tierAsked", result.tier().asked().label())
                .put("tierReason", result.tier().reason());
        Losses losses = result.losses();
        node.put("exitCode", result.exitCode()).put("events", result.events()).put("lost", losses.counted());
        node.put("lossKnown", losses.isKnown()).put("unknownFrom", losses.unknownFrom());
        node.put("startedAt", Timestamps.format(result.startedAt()))
                .put("endedAt", Timestamps.format(result.endedAt()));
        node.put("state", result.closed() ? "CLOSED" : "TRUNCATED")
                .put("place", result.place().name());
        Path back = result.workspace();
        node.put("workspace", back == null ? null : back.toString());
        return node.toString();
    }
}
