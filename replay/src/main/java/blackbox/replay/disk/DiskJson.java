package blackbox.replay.disk;

import blackbox.evidence.text.Timestamps;
import blackbox.replay.capture.CaptureSegment;
import blackbox.replay.disk.DiskAt.Summary;
import blackbox.replay.disk.DiskListing.Entry;
import blackbox.replay.disk.LastWrites.Write;
import blackbox.replay.fs.Inode;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// The answer of `disk`, as JSON.
public final class DiskJson {

    private DiskJson() {}

    /// Writes fields into the object that is open: the run, what was asked for, what is shown.
    public static void shown(JsonGenerator out, RunId run, Summary shown) throws IOException {
        out.writeStringField("run", run.value());
        out.writeObjectFieldStart("at");
        out.writeNumberField("index", shown.asked().index());
        out.writeStringField("at", Timestamps.format(shown.asked().atNs()));
        out.writeEndObject();
        out.writeObjectFieldStart("disk");
        CaptureSegment asOf = shown.asOf();
        if (asOf != null) {
            out.writeNumberField("sealedBy", asOf.index());
            out.writeStringField("sealedAt", Timestamps.format(asOf.sealedNs()));
            out.writeStringField("readAt", Timestamps.format(asOf.readNs()));
        }
        Long synced = shown.syncedNs();
        if (synced != null) {
            out.writeStringField("syncedAt", Timestamps.format(synced));
        }
        out.writeNumberField("logBytes", asOf == null ? 0 : asOf.to());
        out.writeNumberField("writes", shown.writes());
        out.writeBooleanField("whole", shown.whole());
        out.writeEndObject();
    }

    /// Writes the limits, which come last.
    public static void limits(JsonGenerator out, List<String> limits) throws IOException {
        out.writeArrayFieldStart("limits");
        for (String limit : limits) {
            out.writeString(limit);
        }
        out.writeEndArray();
    }

    /// Writes a listing's fields.
    public static void listing(JsonGenerator out, DiskListing listing) throws IOException {
        out.writeStringField("path", listing.path().toString());
        out.writeArrayFieldStart("entries");
        for (Entry entry : listing.entries()) {
            out.writeStartObject();
            entry(out, entry);
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeArrayFieldStart("notOnDisk");
        for (Map.Entry<Text, Write> each : listing.notOnDisk().entrySet()) {
            out.writeStartObject();
            path(out, each.getKey());
            lastWrite(out, each.getValue());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    /// Writes a file's fields.
    public static void entry(JsonGenerator out, Entry entry) throws IOException {
        Inode inode = entry.node().inode();
        path(out, entry.path());
        out.writeStringField("type", inode.type().word());
        out.writeStringField("mode", String.format(Locale.ROOT, "%04o", inode.permissions()));
        out.writeNumberField("bytes", inode.bytes());
        out.writeNumberField("uid", inode.uid());
        out.writeNumberField("gid", inode.gid());
        out.writeNumberField("links", inode.links());
        out.writeStringField(
                "modified", Timestamps.format(Instant.ofEpochSecond(inode.modifiedSeconds(), inode.modifiedNanos())));
        Text target = entry.target();
        if (target != null) {
            out.writeStringField("target", target.toString());
        }
        Duration mayLack = entry.mayLack();
        if (mayLack != null) {
            out.writeNumberField("mayLackMs", DiskListing.milliseconds(mayLack));
        }
        Write write = entry.lastWrite();
        if (write != null) {
            lastWrite(out, write);
        }
    }

    private static void path(JsonGenerator out, Text path) throws IOException {
        out.writeStringField("path", path.toString());
        if (!path.isUtf8()) {
            out.writeBinaryField("pathOctets", path.toBytes());
        }
    }

    private static void lastWrite(JsonGenerator out, Write write) throws IOException {
        out.writeObjectFieldStart("lastWrite");
        out.writeNumberField("index", write.index());
        out.writeStringField("at", Timestamps.format(write.atNs()));
        out.writeStringField("kind", write.kind().eventName());
        process(out, write);
        out.writeEndObject();
    }

    private static void process(JsonGenerator out, Write write) throws IOException {
        Long pid = write.pid();
        if (pid == null) {
            return;
        }
        out.writeObjectFieldStart("process");
        if (write.startNs() != null) {
            out.writeStringField("key", pid + "@" + write.startNs());
        }
        out.writeNumberField("pid", pid);
        Text process = write.process();
        if (process != null) {
            out.writeStringField("comm", process.toString());
        }
        out.writeEndObject();
    }
}
