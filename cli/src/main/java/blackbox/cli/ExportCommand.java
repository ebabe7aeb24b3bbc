package blackbox.cli;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.RunArgument;
import blackbox.cli.options.TravelOptions;
import blackbox.cli.output.JsonOut;
import blackbox.cli.output.TravelReport;
import blackbox.evidence.EvidenceException;
import blackbox.evidence.bundle.BundleWriter;
import blackbox.evidence.store.FileDigest;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.text.Printable;
import blackbox.evidence.tiles.StaticRunLog;
import blackbox.node.travel.TravelException;
import blackbox.query.QueryException;
import blackbox.query.otlp.RunTrace;
import blackbox.query.otlp.RunTrace.Content;
import blackbox.recorder.RecorderException;
import blackbox.recorder.keys.KeyAccess;
import blackbox.recorder.keys.LogKey;
import blackbox.recorder.keys.LogKeys;
import blackbox.replay.ReplayException;
import blackbox.replay.capture.Payload;
import blackbox.replay.capture.SealedCapture;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.VmException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
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
                "Export a run for others: a bundle with everything needed to verify it, its log as static files, its calls of"
                        + " models as traces of OpenTelemetry, or all that a replay elsewhere needs.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox export last --format bundle --out evidence.zip",
            "  java -jar verifier/target/blackbox-verifier.jar --key log.pub evidence.zip",
            "  blackbox export last --format tiles --out folder",
            "  blackbox export last --format asciicast --out session.cast && asciinema play session.cast",
            "  blackbox export last --format otlp --out run.otlp.jsonl     calls of models, for any reader of OTLP",
            "  blackbox export last --format otlp --content --out -        with arguments of tools, to standard output",
            "  blackbox export last --format replay --to age1… --out incident.bbrun      `keys identity` makes such a key",
            "  blackbox export last --format replay --passphrase-file pass --slim"
        })
final class ExportCommand implements Callable<Integer> {

    /// What is written.
    enum Format {
        bundle,
        tiles,
        asciicast,
        otlp,
        replay
    }

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument argument;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "bundle: evidence to verify elsewhere (default). tiles: the events as C2SP tlog-tiles."
                    + " asciicast: what the terminal of `record -t` showed, for asciinema. otlp: the calls of models, tools and"
                    + " MCP servers as OpenTelemetry traces (GenAI conventions, JSON lines). replay: one file with all that a"
                    + " replay elsewhere needs, encrypted, for `blackbox import`.")
    private Format format = Format.bundle;

    @Option(
            names = "--out",
            paramLabel = "PATH",
            description =
                    "Where to write it (default: RUN.bundle.zip, RUN.tiles, RUN.cast, RUN.otlp.jsonl or RUN.bbrun in this folder). A"
                            + " bundle is written as a folder if PATH is an empty folder. otlp: - is standard output.")
    @Nullable
    private Path out;

    @Option(
            names = "--content",
            description = "otlp: export arguments of tools and messages of errors, too, as far as the record has them.")
    private boolean content;

    @Mixin
    private TravelOptions travel = new TravelOptions();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call()
            throws IOException, QueryException, EvidenceException, RecorderException, ReplayException, TravelException,
                    VmException {
        travel.requireFormat(format == Format.replay);
        if (content && format != Format.otlp) {
            throw CommandException.badInput("--content applies to --format otlp only");
        }
        DataFolder folder = common.dataFolder();
        var recordings = common.recordings();
        RunId run = argument.resolve(recordings);
        switch (format) {
            case bundle -> bundle(folder, recordings, run);
            case tiles -> tiles(recordings, run);
            case asciicast -> cast(recordings, run);
            case otlp -> otlp(recordings, run);
            case replay ->
                TravelReport.print(spec.commandLine().getOut(), common.json(), travel.export(folder, run, out));
        }
        return ExitCodes.OK;
    }

    private void bundle(DataFolder folder, Recordings recordings, RunId run)
            throws IOException, EvidenceException, RecorderException {
        Path target = out == null ? Path.of(run + ".bundle.zip") : out;
        int files;
        try (LogKey key = LogKeys.loadOrCreate(folder.keys(), KeyAccess.system())) {
            files = BundleWriter.write(recordings, run, key.first(), target);
        }
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
        Path target = out == null ? Path.of(run + ".cast") : out;
        writeNew(target, to -> {
            try (InputStream octets = shown.open()) {
                long unused = octets.transferTo(to);
            }
        });
        PrintWriter print = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(print, json -> {
                json.writeStartObject();
                json.writeStringField("run", run.value());
                json.writeStringField("asciicast", target.toString());
                json.writeNumberField("bytes", shown.sealedBytes());
                json.writeEndObject();
            });
        } else {
            print.println(target + "  " + shown.sealedBytes() + " bytes; asciinema play " + target);
            print.flush();
        }
    }

    private void otlp(Recordings recordings, RunId run) throws IOException {
        boolean toOutput = out != null && out.equals(Path.of("-"));
        if (toOutput && common.json()) {
            throw CommandException.badInput(
                    "--out - writes the traces to standard output, so --json cannot be there, too");
        }
        RunTrace trace = RunTrace.collect(recordings, run, content ? Content.INCLUDED : Content.LEFT_OUT);
        if (trace.counts().areNone()) {
            throw CommandException.badInput("run " + run + " has no calls of models or MCP servers to export; they are"
                    + " recorded behind `blackbox record --policy FILE`, where the policy opens TLS, and `blackbox touched "
                    + run + " --calls` says what may not have been read");
        }
        PrintWriter err = spec.commandLine().getErr();
        trace.limits().forEach(limit -> err.println("blackbox: " + Printable.of(limit)));
        err.flush();
        PrintWriter print = spec.commandLine().getOut();
        if (toOutput) {
            trace.write(print);
            if (print.checkError()) {
                throw CommandException.failed("standard output was closed before all of the traces were written", null);
            }
            return;
        }
        Path target = out == null ? Path.of(run + ".otlp.jsonl") : out;
        writeNew(target, to -> trace.write(new OutputStreamWriter(to, StandardCharsets.UTF_8)));
        RunTrace.Counts counts = trace.counts();
        long bytes = Files.size(target);
        if (common.json()) {
            JsonOut.document(print, json -> {
                json.writeStartObject();
                json.writeStringField("run", run.value());
                json.writeStringField("otlp", target.toString());
                json.writeNumberField("bytes", bytes);
                json.writeStringField("trace", trace.id());
                json.writeNumberField("modelSpans", counts.models());
                json.writeNumberField("toolSpans", counts.tools());
                json.writeNumberField("mcpSpans", counts.mcp());
                json.writeBooleanField("content", content);
                json.writeArrayFieldStart("limits");
                for (String limit : trace.limits()) {
                    json.writeString(limit);
                }
                json.writeEndArray();
                json.writeEndObject();
            });
        } else {
            print.println(target + "  trace " + trace.id() + ": " + counts.models() + " calls of models, "
                    + counts.tools() + " tools, " + counts.mcp() + " calls of MCP servers");
            print.flush();
        }
    }

    /// Writes octets.
    @FunctionalInterface
    private interface Body {
        void write(OutputStream to) throws IOException;
    }

    /// Writes a file for its owner alone, since what an agent saw may be secret: whole, or not at all.
    private static void writeNew(Path target, Body body) throws IOException {
        try {
            Files.createFile(
                    target, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } catch (FileAlreadyExistsException _) {
            throw CommandException.badInput(target + " already exists; choose another file with --out");
        }
        boolean whole = false;
        try (OutputStream to = Files.newOutputStream(target)) {
            body.write(to);
            whole = true;
        } finally {
            if (!whole) {
                Files.deleteIfExists(target);
            }
        }
    }

    private void tiles(Recordings recordings, RunId run) throws IOException {
        Path target = out == null ? Path.of(run + ".tiles") : out;
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
