package blackbox.cli;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.MomentConverter;
import blackbox.cli.options.RunArgument;
import blackbox.cli.output.JsonOut;
import blackbox.evidence.text.Printable;
import blackbox.evidence.text.Timestamps;
import blackbox.query.QueryException;
import blackbox.replay.Moment;
import blackbox.replay.ReplayException;
import blackbox.replay.disk.DiskAt;
import blackbox.replay.disk.DiskJson;
import blackbox.replay.disk.DiskListing;
import blackbox.replay.disk.LastWrites;
import blackbox.replay.fs.FileType;
import blackbox.replay.fs.Inode;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Text;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox disk`. Exit 1 when the log of the disk ends too early to show the moment that was asked for.
@Command(
        name = "disk",
        description = "Show the VM's disk as it was at a moment of a run.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox disk last --at 02:13:07 --list /workspace",
            "  blackbox disk last --at 4711 --cat /etc/passwd",
            "  blackbox disk nightly --at 2026-11-22T02:13:07Z --out state.ext4",
            "",
            "--list and --cat also name the event that last changed a file (blackbox events RUN shows it), and say how many",
            "milliseconds of writes it may lack, where the guest had not yet said that they were on its disk.",
            "--out writes the writable disk: a sparse raw ext4 image; its folder upper is overlaid on the image's root."
        })
final class DiskCommand implements Callable<Integer> {

    private static final int JSON_CONTENT_BYTES_MAX = 16 << 20;
    private static final long CONTENT_BYTES_MAX = 16L << 30;
    private static final int CHUNK_BYTES = 1 << 16;

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument run;

    @Option(
            names = "--at",
            paramLabel = "INDEX|TIME",
            required = true,
            converter = MomentConverter.class,
            description = "An event's index, an RFC 3339 time, or HH:MM:SS of the run's day (UTC).")
    private Moment at = new Moment.AtEvent(0);

    @ArgGroup(multiplicity = "1")
    private What what = new What();

    @Spec
    private CommandSpec spec;

    /// What to do with the disk.
    static final class What {
        @Option(
                names = "--list",
                paramLabel = "PATH",
                required = true,
                description = "List a folder's entries, or show a file's metadata.")
        @Nullable
        String list;

        @Option(
                names = "--cat",
                paramLabel = "PATH",
                required = true,
                description = "Write a file's content to standard output; with --json as base64.")
        @Nullable
        String cat;

        @Option(
                names = "--out",
                paramLabel = "FILE",
                required = true,
                description = "Write the disk image to a new file.")
        @Nullable
        Path out;
    }

    @Override
    public Integer call() throws IOException, QueryException, ReplayException {
        var recordings = common.recordings();
        RunId id = run.resolve(recordings);
        try (DiskAt disk = DiskAt.open(recordings, id, at)) {
            String list = what.list;
            String cat = what.cat;
            Path out = what.out;
            if (list != null) {
                list(disk, DiskListing.of(disk, recordings, id, Text.of(list)), id);
            } else if (cat != null) {
                cat(disk, DiskListing.file(disk, recordings, id, Text.of(cat)), id);
            } else if (out != null) {
                disk.copyImage(out);
                answer(
                        disk,
                        id,
                        json -> json.writeStringField(
                                "out", out.toAbsolutePath().toString()));
            }
            return disk.shown().whole() ? ExitCodes.OK : ExitCodes.DOES_NOT_HOLD;
        }
    }

    private void list(DiskAt disk, DiskListing listing, RunId id) throws IOException {
        if (!common.json()) {
            PrintWriter out = spec.commandLine().getOut();
            listing.entries().forEach(entry -> out.println(line(entry)));
            out.flush();
            listing.notOnDisk()
                    .forEach((path, write) -> say(printable(path)
                            + ": existed at that moment, but may not have reached the disk yet: " + said(write)));
        }
        answer(disk, id, json -> DiskJson.listing(json, listing));
    }

    private void cat(DiskAt disk, DiskListing.Entry file, RunId id) throws IOException, ReplayException {
        long bytes = file.node().inode().bytes();
        if (bytes > (common.json() ? JSON_CONTENT_BYTES_MAX : CONTENT_BYTES_MAX)) {
            throw CommandException.badInput("'" + printable(file.path()) + "' has " + bytes
                    + " bytes, more than can be shown this way; "
                    + (common.json() ? "omit --json" : "use --out and read the file from the image"));
        }
        try (InputStream content = DiskListing.content(disk, file)) {
            if (common.json()) {
                byte[] octets = content.readNBytes(JSON_CONTENT_BYTES_MAX);
                answer(disk, id, json -> {
                    DiskJson.entry(json, file);
                    json.writeBinaryField("content", octets);
                });
                return;
            }
            var chunk = new byte[CHUNK_BYTES];
            for (int n = content.read(chunk); n >= 0; n = content.read(chunk)) {
                System.out.write(chunk, 0, n);
            }
            System.out.flush();
        }
        say(printable(file.path()) + ": " + said(file));
        answer(disk, id, json -> {});
    }

    /// What is shown and what limits apply: in the document, or on standard error.
    private void answer(DiskAt disk, RunId id, JsonOut.Body body) throws IOException {
        if (common.json()) {
            JsonOut.document(spec.commandLine().getOut(), json -> {
                json.writeStartObject();
                DiskJson.shown(json, id, disk.shown());
                body.write(json);
                DiskJson.limits(json, disk.shown().limits());
                json.writeEndObject();
            });
            return;
        }
        DiskAt.Summary shown = disk.shown();
        say("the disk of run " + id + " at event " + shown.asked().index() + ", "
                + Timestamps.format(shown.asked().atNs()) + ", after " + shown.writes() + " writes");
        shown.limits().forEach(this::say);
    }

    private void say(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("blackbox: " + line);
        err.flush();
    }

    private static String line(DiskListing.Entry entry) {
        Inode inode = entry.node().inode();
        Text target = entry.target();
        return String.format(
                Locale.ROOT,
                "%c%04o %5d %5d %12d  %s  %s%s  [%s]",
                inode.type().letter(),
                inode.permissions(),
                inode.uid(),
                inode.gid(),
                inode.bytes(),
                Timestamps.format(Instant.ofEpochSecond(inode.modifiedSeconds(), inode.modifiedNanos())),
                printable(entry.path()),
                target == null ? "" : " -> " + printable(target),
                said(entry));
    }

    private static String said(DiskListing.Entry entry) {
        Duration mayLack = entry.mayLack();
        String lacks = mayLack == null || mayLack.isZero()
                ? mayLack == null && entry.node().inode().type() == FileType.FILE ? "; may lack writes" : ""
                : "; may lack up to " + DiskListing.milliseconds(mayLack) + " ms of writes";
        LastWrites.Write write = entry.lastWrite();
        return (write == null ? "no event has changed it by then" : said(write)) + lacks;
    }

    private static String said(LastWrites.Write write) {
        Text process = write.process();
        return write.kind().eventName() + " " + write.index() + " at " + Timestamps.format(write.atNs())
                + (process == null ? "" : " by " + printable(process) + " " + write.pid());
    }

    private static String printable(Text text) {
        return Printable.of(text.toString());
    }
}
