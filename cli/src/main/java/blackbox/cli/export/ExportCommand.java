package blackbox.cli.export;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.EndpointOptions;
import blackbox.cli.options.ReportOptions;
import blackbox.cli.options.RunArgument;
import blackbox.cli.options.TravelOptions;
import blackbox.cli.output.JsonOut;
import blackbox.cli.output.TravelReport;
import blackbox.cli.terminal.Narrator;
import blackbox.console.EvidencePage;
import blackbox.evidence.EvidenceException;
import blackbox.evidence.bundle.BundleWriter;
import blackbox.evidence.store.FileDigest;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.text.Printable;
import blackbox.evidence.text.Timestamps;
import blackbox.evidence.tiles.StaticRunLog;
import blackbox.evidence.time.TimeVerdict;
import blackbox.evidence.verify.Verification;
import blackbox.ingest.table.CatalogView;
import blackbox.node.data.LocalTrust;
import blackbox.node.otlp.OtlpReceiver;
import blackbox.node.travel.TravelException;
import blackbox.node.verdict.VerdictList;
import blackbox.query.QueryException;
import blackbox.query.export.ChromeTrace;
import blackbox.query.export.CsvExport;
import blackbox.query.export.EventExport;
import blackbox.query.export.JsonExport;
import blackbox.query.ocsf.OcsfExport;
import blackbox.query.ocsf.OcsfParquet;
import blackbox.query.otlp.RunTrace;
import blackbox.query.otlp.RunTrace.Content;
import blackbox.query.otlp.RunTrace.Programs;
import blackbox.recorder.RecorderException;
import blackbox.recorder.keys.KeyAccess;
import blackbox.recorder.keys.LogKey;
import blackbox.recorder.keys.LogKeys;
import blackbox.recorder.outbound.HttpPoster;
import blackbox.replay.ReplayException;
import blackbox.replay.capture.Payload;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.packets.PacketExport;
import blackbox.report.ControlMap;
import blackbox.report.ReportException;
import blackbox.report.ReportFacts;
import blackbox.report.ReportSigner;
import blackbox.report.RunReport;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox export`.
@Command(
        name = "export",
        description =
                "Export a run for others: a bundle with everything needed to verify it, all that a replay elsewhere needs, or"
                        + " its events in the form of another tool.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox export last --format bundle --out evidence.zip",
            "  java -jar verifier/target/blackbox-verifier.jar --key log.pub evidence.zip",
            "  blackbox export last --format html --out evidence.html     one file that opens and verifies itself in a browser",
            "  blackbox export last --format tiles --out folder",
            "  blackbox export last --format ocsf --out - | your-siem-forwarder",
            "  blackbox export last --format ocsf-parquet --out run.parquet     for a data lake",
            "  blackbox export last --format chrome-trace --out run.trace.json     open it at ui.perfetto.dev or in speedscope",
            "  blackbox export last --format pcapng --out - | wireshark -k -i -",
            "  blackbox export last --format pdf --out report.pdf && pdfsig report.pdf",
            "  blackbox export last --format pdf --tsa https://tsa.example/tsr --signer-cert seal.crt --signer-key seal.key",
            "  blackbox export last --format controls --out - | jq '.controls[] | select(.exitCode == 1)'",
            "  blackbox export last --format asciicast --out session.cast && asciinema play session.cast",
            "  blackbox export last --format otlp --out run.otlp.jsonl     calls and programs, for any reader of OTLP",
            "  blackbox export last --format otlp --content --out -        with arguments, to standard output",
            "  blackbox export last --format otlp --endpoint http://localhost:4318     sent to a collector",
            "  blackbox export last --format replay --to age1… --out incident.bbrun      `keys identity` makes such a key",
            "  blackbox export last --format replay --passphrase-file pass --slim"
        })
public final class ExportCommand implements Callable<Integer> {

    /// For an answer of a time authority, or of a receiver of traces.
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument argument;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            converter = ExportFormat.Converter.class,
            completionCandidates = ExportFormat.Names.class,
            description = {
                "To verify and replay elsewhere:",
                "  bundle: evidence to verify without this machine (default)",
                "  html: the bundle in one page that verifies and shows it in any browser, without a network",
                "  tiles: the events as C2SP tlog-tiles, a log of static files",
                "  replay: one file with all that a replay elsewhere needs, encrypted, for `blackbox import`",
                "For whoever answers for record-keeping:",
                "  pdf: a report of what is verified, what the agent did and what may not have been seen, signed (PAdES);"
                        + " with a time authority, its time is stamped",
                "  controls: which controls (EU AI Act, ISO 42001, SOC 2, PCI DSS, HIPAA, DORA, NIST) the run is evidence for,"
                        + " with the command that shows it and, where one can say so, its exit code, as JSON",
                "For others' tools; these are not signed, and hold in clear what the agent saw and did:",
                "  ocsf: every event in the Open Cybersecurity Schema Framework 1.8, for a SIEM or a data lake",
                "  ocsf-parquet: the same in one Parquet file with nested columns",
                "  otlp: calls of models, tools and MCP servers, and the programs that ran, as an OpenTelemetry trace",
                "  json: every event as `events --json` prints it",
                "  csv: every event with all columns, for a spreadsheet",
                "  chrome-trace: processes, files, connections and calls on a time line, for Perfetto and speedscope",
                "  pcapng: the network's frames with the process of each connection, for Wireshark",
                "  asciicast: what the terminal of `record -t` showed, for asciinema"
            })
    private ExportFormat format = ExportFormat.BUNDLE;

    @Option(
            names = "--out",
            paramLabel = "PATH",
            description =
                    "Where to write it (default: a file in this folder that is named for the run). A bundle is written"
                            + " as a folder if PATH is an empty folder. html, pdf, controls, ocsf, ocsf-parquet, otlp, json, csv,"
                            + " chrome-trace and pcapng: - is standard output.")
    @Nullable
    private Path out;

    @Option(
            names = "--content",
            description =
                    "otlp: export arguments of tools and programs and messages of errors, too, as far as the record has"
                            + " them.")
    private boolean content;

    @Option(names = "--no-programs", description = "otlp: leave out the programs that ran, and export calls alone.")
    private boolean noPrograms;

    @Mixin
    private TravelOptions travel = new TravelOptions();

    @Mixin
    private ReportOptions signing = new ReportOptions();

    @Mixin
    private EndpointOptions receiver = new EndpointOptions();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call()
            throws IOException, QueryException, EvidenceException, RecorderException, ReplayException, TravelException,
                    VmException, ReportException, InterruptedException {
        travel.requireFormat(format == ExportFormat.REPLAY);
        signing.requireFormat(format == ExportFormat.PDF);
        receiver.requireFormat(format == ExportFormat.OTLP, out != null);
        if ((content || noPrograms) && format != ExportFormat.OTLP) {
            throw CommandException.badInput(
                    (content ? "--content" : "--no-programs") + " applies to --format otlp only");
        }
        DataFolder folder = common.dataFolder();
        var recordings = common.recordings();
        RunId run = argument.resolve(recordings);
        switch (format) {
            case BUNDLE -> bundle(folder, recordings, run);
            case HTML -> page(folder, recordings, run);
            case TILES -> tiles(recordings, run);
            case REPLAY ->
                TravelReport.print(spec.commandLine().getOut(), common.json(), travel.export(folder, run, out));
            case ASCIICAST -> cast(recordings, run);
            case OTLP -> {
                return otlp(recordings, run);
            }
            case CONTROLS -> controls(folder, recordings, run);
            case PDF -> report(folder, recordings, run);
            case PCAPNG -> packets(recordings, run);
            case OCSF, JSON, CSV, CHROME_TRACE -> events(recordings, run);
            case OCSF_PARQUET -> parquet(folder, recordings, run);
        }
        return ExitCodes.OK;
    }

    private void bundle(DataFolder folder, Recordings recordings, RunId run)
            throws IOException, EvidenceException, RecorderException {
        Path target = out == null ? format.defaultFile(run) : out;
        int files = writeBundle(folder, recordings, run, target);
        String sha256 =
                Files.isDirectory(target) ? null : FileDigest.sha256(target).toString();
        PrintWriter print = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(print, json -> {
                json.writeStartObject();
                json.writeStringField("run", run.value());
                json.writeStringField("bundle", target.toString());
                json.writeNumberField("files", files);
                json.writeStringField("sha256", sha256);
                json.writeEndObject();
            });
        } else {
            print.println(target + "  " + files + " files" + (sha256 == null ? "" : "  sha256 " + sha256));
            print.flush();
        }
    }

    private static int writeBundle(DataFolder folder, Recordings recordings, RunId run, Path target)
            throws IOException, EvidenceException, RecorderException {
        try (LogKey key = LogKeys.loadOrCreate(folder.keys(), KeyAccess.system())) {
            return BundleWriter.write(
                    recordings, run, key.first(), Map.of(EvidencePage.NAME, EvidencePage.blank()), target);
        }
    }

    private void page(DataFolder folder, Recordings recordings, RunId run)
            throws IOException, EvidenceException, RecorderException {
        Destination to = Destination.of(out, format.defaultFile(run), common.json());
        boolean whole = recordings.spoolSegments(run).isEmpty()
                && Recordings.entries(recordings.quarantineFolder(run)).isEmpty();
        List<String> limits = whole
                ? List.of()
                : List.of("some batches of run " + run
                        + " are not in the table, and a page cannot read those: it will say"
                        + " that it cannot judge; `blackbox serve` or `blackbox ingest` takes in what is waiting");
        Path staging = Files.createTempDirectory("blackbox-page-"); // readable by its owner alone
        Path bundle = staging.resolve("bundle.zip");
        try {
            int files = writeBundle(folder, recordings, run, bundle);
            if (Files.size(bundle) > EvidencePage.BUNDLE_BYTES_MAX) {
                throw CommandException.badInput("the bundle of run " + run + " has " + Files.size(bundle)
                        + " octets, and a page can carry " + EvidencePage.BUNDLE_BYTES_MAX
                        + "; use --format bundle, and open the ZIP with the " + EvidencePage.NAME + " in it");
            }
            to.write(octets -> {
                try (InputStream zip = Files.newInputStream(bundle)) {
                    EvidencePage.write(zip, octets);
                }
                return files;
            });
            said(
                    run,
                    to,
                    files + " files; it verifies itself in a browser, which proves nothing of who made it: give it the"
                            + " recorder's public key there",
                    limits,
                    json -> json.writeNumberField("files", files));
        } finally {
            Files.deleteIfExists(bundle);
            Files.delete(staging);
        }
    }

    /// Writes the part of the terminal's output that the events seal, after checking it against them.
    private void cast(Recordings recordings, RunId run) throws IOException, ReplayException {
        Payload.refuseShredded(recordings, run);
        SealedCapture shown = SealedCapture.readAll(recordings, run).get(CaptureName.TERMINAL.text());
        if (shown == null) {
            throw CommandException.badInput("run " + run
                    + " has no terminal output; `blackbox record -t` gives a command a terminal and stores what"
                    + " it shows unless --frames-max is 0");
        }
        shown.check();
        Path target = out == null ? format.defaultFile(run) : out;
        long bytes = new Destination(target).write(to -> {
            try (InputStream octets = shown.open()) {
                return octets.transferTo(to);
            }
        });
        PrintWriter print = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(print, json -> {
                json.writeStartObject();
                json.writeStringField("run", run.value());
                json.writeStringField("asciicast", target.toString());
                json.writeNumberField("bytes", bytes);
                json.writeEndObject();
            });
        } else {
            print.println(target + "  " + bytes + " bytes; asciinema play " + target);
            print.flush();
        }
    }

    private int otlp(Recordings recordings, RunId run) throws IOException, InterruptedException {
        Destination to = Destination.of(out, format.defaultFile(run), common.json());
        Programs programs = noPrograms ? Programs.LEFT_OUT : Programs.INCLUDED;
        RunTrace trace = RunTrace.collect(recordings, run, content ? Content.INCLUDED : Content.LEFT_OUT, programs);
        if (trace.counts().areNone()) {
            throw CommandException.badInput("run " + run + " has no calls of models or MCP servers to export"
                    + (programs == Programs.INCLUDED ? ", and no programs" : "")
                    + "; calls are recorded behind `blackbox record --policy FILE`, where the policy opens TLS, and `blackbox touched "
                    + run + " --calls` says what may not have been read");
        }
        URI address = receiver.address();
        if (address != null) {
            return send(run, trace, address);
        }
        to.write(octets -> {
            trace.write(new OutputStreamWriter(octets, StandardCharsets.UTF_8));
            return trace;
        });
        said(run, to, words(trace), trace.limits(), json -> fields(trace, json));
        return ExitCodes.OK;
    }

    private static String words(RunTrace trace) {
        RunTrace.Counts counts = trace.counts();
        return "trace " + trace.id() + ": " + counts.models() + " calls of models, " + counts.tools() + " tools, "
                + counts.mcp() + " calls of MCP servers, " + counts.programs() + " programs";
    }

    private void fields(RunTrace trace, JsonGenerator json) throws IOException {
        json.writeStringField("trace", trace.id());
        json.writeNumberField("modelSpans", trace.counts().models());
        json.writeNumberField("toolSpans", trace.counts().tools());
        json.writeNumberField("mcpSpans", trace.counts().mcp());
        json.writeNumberField("programSpans", trace.counts().programs());
        json.writeBooleanField("content", content);
    }

    /// Spans that were rejected are a failure: the receiver has not all of it.
    private int send(RunId run, RunTrace trace, URI address) throws IOException, InterruptedException {
        OtlpReceiver.Sent sent;
        try (var poster = new HttpPoster(PATIENCE);
                var narrator = Narrator.onStandardError()) {
            sent = receiver.receiver(address, poster, narrator::say).send(trace);
        }
        PrintWriter err = spec.commandLine().getErr();
        sent.said().forEach(each -> err.println("blackbox: the receiver says: " + each));
        String place = HttpPoster.shown(address);
        said(
                run,
                place,
                words(trace) + "; " + sent.spans() + " spans sent"
                        + (sent.rejected() == 0 ? "" : ", of which " + sent.rejected() + " were rejected"),
                trace.limits(),
                json -> {
                    fields(trace, json);
                    json.writeNumberField("requests", sent.requests());
                    json.writeNumberField("spans", sent.spans());
                    json.writeNumberField("rejectedSpans", sent.rejected());
                });
        return sent.rejected() == 0 ? ExitCodes.OK : ExitCodes.FAILED;
    }

    private void events(Recordings recordings, RunId run) throws IOException {
        Destination to = Destination.of(out, format.defaultFile(run), common.json());
        EventExport.Written written = to.write(octets -> {
            var text = new OutputStreamWriter(octets, StandardCharsets.UTF_8);
            EventExport export = switch (format) {
                case OCSF -> new OcsfExport(run, text);
                case CSV -> new CsvExport(new PrintWriter(text));
                case CHROME_TRACE -> new ChromeTrace(run, text);
                case JSON -> new JsonExport(text);
                default -> throw new IllegalStateException(format + " has no events");
            };
            return EventExport.write(recordings, run, export);
        });
        said(run, to, written);
    }

    private void parquet(DataFolder folder, Recordings recordings, RunId run)
            throws IOException, QueryException, VmException {
        Destination to = Destination.of(out, format.defaultFile(run), common.json());
        try (var scratch = ScratchFolder.ofThisProcess(folder.cache(), ".ocsf-")) {
            said(run, to, to.write(octets -> OcsfParquet.write(recordings, run, scratch.path(), octets)));
        }
    }

    private void said(RunId run, Destination to, EventExport.Written written) throws IOException {
        said(
                run,
                to,
                written.events() + " events",
                written.limits(),
                json -> json.writeNumberField("events", written.events()));
    }

    private void controls(DataFolder folder, Recordings recordings, RunId run) throws IOException {
        Destination to = Destination.of(out, format.defaultFile(run), common.json());
        ControlMap map = to.write(octets -> {
            ControlMap made = ControlMap.of(run, verification(folder, recordings, run), Instant.now());
            octets.write(made.json());
            return made;
        });
        said(
                run,
                to,
                map.met() + " controls hold by `blackbox verify`, " + map.unmet() + " do not, " + map.untried()
                        + " need a command of their own",
                List.of(),
                json -> {
                    json.writeNumberField("met", map.met());
                    json.writeNumberField("unmet", map.unmet());
                    json.writeNumberField("untried", map.untried());
                });
    }

    private static Verification verification(DataFolder folder, Recordings recordings, RunId run) throws IOException {
        var trust = new LocalTrust(folder);
        return CatalogView.verify(recordings, run, trust.believedKeys(), null, trust.anchorTrust());
    }

    private static List<String> replays(DataFolder folder, Recordings recordings, RunId run) throws IOException {
        var lines = new StringWriter();
        try (var out = new PrintWriter(lines)) {
            VerdictList.print(out, VerdictList.read(recordings, run, new LocalTrust(folder).trustedKeys()));
        }
        return lines.toString().lines().toList();
    }

    private void report(DataFolder folder, Recordings recordings, RunId run)
            throws IOException, RecorderException, ReportException, QueryException {
        Destination to = Destination.of(out, format.defaultFile(run), common.json());
        to.requireFree();
        KeyAccess access = KeyAccess.system();
        try (var client = new HttpPoster(PATIENCE);
                var narrator = Narrator.onStandardError()) {
            ReportSigner signer = signing.signer(folder, access, client, narrator::say);
            narrator.say("verifying and reading run " + run);
            var facts = ReportFacts.collect(
                    recordings,
                    run,
                    () -> verification(folder, recordings, run),
                    replays(folder, recordings, run),
                    access.clock().instant(),
                    String.join(" ", spec.root().version()));
            RunReport report = to.write(octets -> RunReport.write(facts, signer, octets));
            Verification verification = facts.verification();
            TimeVerdict.Stamped stamp = report.stamp();
            said(
                    run,
                    to,
                    verification.integrity() + ", " + verification.completeness() + "; " + report.pages()
                            + " pages, " + report.level() + " by certificate "
                            + signer.key().fingerprint()
                            + (stamp == null ? "; no authority stamped its time" : "; stamped at " + stamp.time()),
                    facts.limits(),
                    json -> {
                        json.writeNumberField("pages", report.pages());
                        json.writeStringField("level", report.level());
                        json.writeStringField("certificate", signer.key().fingerprint());
                        json.writeStringField("signer", signer.key().subject().getName());
                        json.writeStringField("stampedAt", stamp == null ? null : Timestamps.format(stamp.time()));
                        json.writeStringField("stampedBy", stamp == null ? null : stamp.authority());
                        json.writeStringField(
                                "integrity", verification.integrity().name());
                        json.writeStringField(
                                "completeness", verification.completeness().name());
                    });
        }
    }

    private void packets(Recordings recordings, RunId run) throws IOException, ReplayException {
        Destination to = Destination.of(out, format.defaultFile(run), common.json());
        if (!PacketExport.isPossible(recordings, run)) {
            throw CommandException.badInput(
                    "run " + run + " has no frames to export: it had no network, or was recorded with --frames-max 0");
        }
        PacketExport.Written written = to.write(octets -> PacketExport.write(recordings, run, octets));
        said(
                run,
                to,
                written.frames() + " frames; the process of " + written.connections() + " connections is known",
                written.limits(),
                json -> {
                    json.writeNumberField("frames", written.frames());
                    json.writeNumberField("connections", written.connections());
                });
    }

    /// Says what was written, on standard output unless it is there itself, and what may be missing from it.
    private void said(RunId run, Destination to, String words, List<String> limits, JsonOut.Body fields)
            throws IOException {
        Path file = to.file();
        if (file == null) {
            complain(limits);
            return;
        }
        long bytes = Files.size(file);
        said(run, file.toString(), words, limits, json -> {
            json.writeNumberField("bytes", bytes);
            fields.write(json);
        });
    }

    private void complain(List<String> limits) {
        PrintWriter err = spec.commandLine().getErr();
        limits.forEach(limit -> err.println("blackbox: " + Printable.of(limit)));
        err.flush();
    }

    /// @param place where it is now
    private void said(RunId run, String place, String words, List<String> limits, JsonOut.Body fields)
            throws IOException {
        complain(limits);
        PrintWriter print = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(print, json -> {
                json.writeStartObject();
                json.writeStringField("run", run.value());
                json.writeStringField(format.toString(), place);
                fields.write(json);
                json.writeArrayFieldStart("limits");
                for (String limit : limits) {
                    json.writeString(limit);
                }
                json.writeEndArray();
                json.writeEndObject();
            });
        } else {
            print.println(place + "  " + words);
            print.flush();
        }
    }

    private void tiles(Recordings recordings, RunId run) throws IOException {
        Path target = out == null ? format.defaultFile(run) : out;
        Files.createDirectories(target);
        if (!Recordings.entries(target).isEmpty()) {
            throw CommandException.badInput("the folder " + target + " is not empty");
        }
        StaticRunLog.Written written = StaticRunLog.write(recordings, run, target);
        String note = written.note() == null ? null : written.note().encoded();
        PrintWriter print = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(print, json -> {
                json.writeStartObject();
                json.writeStringField("run", run.value());
                json.writeStringField("tiles", target.toString());
                json.writeNumberField("leaves", written.leaves());
                json.writeStringField("checkpoint", note);
                json.writeEndObject();
            });
        } else {
            print.println(target + "  " + written.leaves() + " leaves");
            print.print(note == null ? "" : note);
            print.flush();
        }
    }
}
