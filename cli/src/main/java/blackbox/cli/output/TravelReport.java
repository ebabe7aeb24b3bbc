package blackbox.cli.output;

import blackbox.node.travel.PartSize;
import blackbox.node.travel.RunExport;
import blackbox.node.travel.RunImport;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;

/// What a run that travels consists of, on its way out and in.
public final class TravelReport {

    private static final String ROW = "  %-12s %6s %16s %16s";

    private TravelReport() {}

    /// Prints what was exported.
    public static void print(PrintWriter out, boolean json, RunExport.Written written) throws IOException {
        if (json) {
            JsonOut.document(out, to -> {
                to.writeStartObject();
                to.writeStringField("run", written.run().value());
                to.writeStringField("file", written.file().toString());
                to.writeNumberField("bytes", written.bytes());
                to.writeBooleanField("encrypted", written.encrypted());
                parts(to, written.parts(), true);
                to.writeArrayFieldStart("leftOut");
                for (String each : written.leftOut()) {
                    to.writeString(each);
                }
                to.writeEndArray();
                to.writeEndObject();
            });
            return;
        }
        out.println(written.file() + "  " + written.bytes() + " bytes, "
                + (written.encrypted() ? "encrypted" : "READABLE BY EVERYONE who gets it"));
        table(out, written.parts(), true);
        written.leftOut().forEach(each -> out.println("left out  " + each));
        out.flush();
    }

    /// Prints what was imported.
    public static void print(PrintWriter out, boolean json, Path file, RunImport.Taken taken) throws IOException {
        if (json) {
            JsonOut.document(out, to -> {
                to.writeStartObject();
                to.writeStringField("run", taken.run().value());
                to.writeStringField("file", file.toString());
                to.writeBooleanField("imported", taken.fresh());
                to.writeBooleanField("trusted", taken.trusted());
                to.writeArrayFieldStart("keys");
                for (String each : taken.keys()) {
                    to.writeString(each);
                }
                to.writeEndArray();
                to.writeStringField(
                        "foreignQemu",
                        taken.foreignQemu() == null ? null : taken.foreignQemu().toString());
                parts(to, taken.parts(), false);
                to.writeEndObject();
            });
            return;
        }
        out.println("run " + taken.run() + (taken.fresh() ? " imported" : " is here already; nothing was replaced"));
        table(out, taken.parts(), false);
        out.println("signed by " + String.join(", ", taken.keys()));
        out.println(
                taken.trusted()
                        ? "trusted: a key that is trusted here vouches for it"
                        : "UNTRUSTED: no key that is trusted here vouches for it. If you have the recorder's public key from a"
                                + " source that you trust, import it again with --key FILE");
        out.flush();
    }

    private static void parts(JsonGenerator to, List<PartSize> parts, boolean stored) throws IOException {
        to.writeArrayFieldStart("parts");
        for (PartSize each : parts) {
            to.writeStartObject();
            to.writeStringField("part", each.part());
            to.writeNumberField("files", each.files());
            to.writeNumberField("bytes", each.bytes());
            if (stored) {
                to.writeNumberField("storedBytes", each.storedBytes());
            }
            to.writeEndObject();
        }
        to.writeEndArray();
    }

    private static void table(PrintWriter out, List<PartSize> parts, boolean stored) {
        out.println(ROW.formatted("part", "files", "bytes", stored ? "in the file" : "")
                .stripTrailing());
        for (PartSize each : parts) {
            out.println(ROW.formatted(
                            each.part(), each.files(), each.bytes(), stored ? Long.toString(each.storedBytes()) : "")
                    .stripTrailing());
        }
    }
}
