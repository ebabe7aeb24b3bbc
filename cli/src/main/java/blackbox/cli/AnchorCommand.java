package blackbox.cli;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.DurationConverter;
import blackbox.cli.output.JsonOut;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.sign.CryptoProvider;
import blackbox.evidence.text.Timestamps;
import blackbox.evidence.time.TimeVerdict;
import blackbox.recorder.RecorderException;
import blackbox.recorder.anchor.AnchorSettings;
import blackbox.recorder.anchor.Anchoring;
import blackbox.recorder.anchor.Anchoring.Outcome;
import blackbox.recorder.outbound.HttpPoster;
import blackbox.schemas.folder.DataFolder;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox anchor`.
@Command(
        name = "anchor",
        description = {
            "Have outside parties vouch for the log of runs as it is now: the witnesses of <data>/keys/policy and",
            "time-stamping authorities. Their answers are checked and stored beside the log. Exit 0 when all of them vouched."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  blackbox anchor", "  blackbox anchor --tsa https://tsa.example/tsr --json"})
final class AnchorCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Option(
            names = "--tsa",
            paramLabel = "URL",
            description =
                    "A time-stamping authority (RFC 3161) to ask besides those in <data>/keys/anchors.conf; may be "
                            + "repeated. Its certificate, or its root's, is a .pem file in <data>/keys/time/.")
    private List<URI> authorities = new ArrayList<>();

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            defaultValue = "20s",
            converter = DurationConverter.class,
            description = "How long to wait for each of them (default: ${DEFAULT-VALUE}).")
    private Duration timeout = Duration.ofSeconds(20);

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, RecorderException, InterruptedException {
        DataFolder data = common.ownDataFolder();
        AnchorSettings settings = AnchorSettings.read(data, authorities);
        if (settings.isEmpty()) {
            throw CommandException.badInput(
                    "no witness or time authority is configured: name witnesses with their addresses in "
                            + data.policy() + ", or a time authority with --tsa or in "
                            + data.anchorsConf());
        }
        try (var client = new HttpPoster(timeout)) {
            var anchoring = new Anchoring(
                    data.log(), settings, client, CryptoProvider.current().random());
            return switch (anchoring.run()) {
                case Outcome.Nothing _ ->
                    throw CommandException.badInput("there is no log of runs in " + data.log() + " yet");
                case Outcome.Busy _ ->
                    throw CommandException.failed("another process is anchoring this log now; try again later", null);
                case Outcome.Asked asked -> {
                    tell(asked);
                    yield asked.isComplete() ? ExitCodes.OK : ExitCodes.FAILED;
                }
            };
        }
    }

    private void tell(Outcome.Asked asked) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(out, json -> write(json, asked));
            return;
        }
        out.println("log        " + asked.checkpoint().origin() + ", "
                + asked.checkpoint().size() + " leaves");
        for (TrustPolicy.Cosigned each : asked.cosigned()) {
            out.println("witness    " + each.witness() + "  " + Instant.ofEpochSecond(each.epochSeconds()));
        }
        for (Map.Entry<String, TimeVerdict.Stamped> stamp : asked.stamps().entrySet()) {
            out.println("time stamp " + stamp.getKey() + "  " + stamp.getValue().time() + "  "
                    + stamp.getValue().authority());
        }
        out.flush();
        asked.missing().forEach((who, why) -> spec.commandLine().getErr().println("missing: " + who + ": " + why));
    }

    private static void write(JsonGenerator json, Outcome.Asked asked) throws IOException {
        json.writeStartObject();
        json.writeStringField("origin", asked.checkpoint().origin());
        json.writeNumberField("size", asked.checkpoint().size());
        json.writeStringField("root", asked.checkpoint().root().toString());
        json.writeBooleanField("quorum", asked.quorum());
        json.writeArrayFieldStart("witnesses");
        for (TrustPolicy.Cosigned each : asked.cosigned()) {
            json.writeStartObject();
            json.writeStringField("name", each.witness());
            json.writeStringField("at", Timestamps.format(Instant.ofEpochSecond(each.epochSeconds())));
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeArrayFieldStart("timeStamps");
        for (Map.Entry<String, TimeVerdict.Stamped> stamp : asked.stamps().entrySet()) {
            json.writeStartObject();
            json.writeStringField("url", stamp.getKey());
            json.writeStringField("at", Timestamps.format(stamp.getValue().time()));
            json.writeStringField(
                    "notLaterThan", Timestamps.format(stamp.getValue().notLaterThan()));
            json.writeStringField("authority", stamp.getValue().authority());
            json.writeStringField("serial", stamp.getValue().serial().toString(16));
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeArrayFieldStart("missing");
        for (Map.Entry<String, String> each : asked.missing().entrySet()) {
            json.writeStartObject();
            json.writeStringField("who", each.getKey());
            json.writeStringField("why", each.getValue());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }
}
