package blackbox.query.brief;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A [Brief] as a JSON object, with everything that the text only counts.
public final class BriefJson {

    private final JsonGenerator out;

    private BriefJson(JsonGenerator out) {
        this.out = out;
    }

    /// Writes it.
    public static void write(JsonGenerator out, Brief brief) throws IOException {
        var json = new BriefJson(out);
        out.writeStartObject();
        json.texts("command", brief.command());
        out.writeStringField("ended", brief.ended());
        json.notables(brief.notables());
        json.network(brief.network());
        json.changes(brief.changes());
        out.writeNumberField("foldersChanged", brief.foldersChanged());
        json.texts("readOutside", brief.readOutside());
        out.writeNumberField("processes", brief.processes());
        out.writeObjectFieldStart("programs");
        for (Map.Entry<String, Long> each : brief.programs().entrySet()) {
            out.writeNumberField(each.getKey(), each.getValue());
        }
        out.writeEndObject();
        out.writeObjectFieldStart("events");
        out.writeNumberField("agent", brief.events().agent());
        out.writeNumberField("supervisor", brief.events().supervisor());
        out.writeNumberField("host", brief.events().host());
        out.writeEndObject();
        json.texts("limits", brief.limits());
        out.writeEndObject();
    }

    private void notables(List<Notable> notables) throws IOException {
        out.writeArrayFieldStart("notable");
        for (Notable each : notables) {
            out.writeStartObject();
            out.writeStringField("what", each.what().word());
            out.writeStringField("act", each.act());
            text("by", each.by());
            text("error", each.why());
            out.writeNumberField("index", each.index());
            out.writeNumberField("count", each.count());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private void network(List<Contact> network) throws IOException {
        out.writeArrayFieldStart("network");
        for (Contact each : network) {
            out.writeStartObject();
            out.writeStringField("protocol", each.protocol());
            out.writeStringField("remote", each.remote());
            text("host", each.host());
            texts("by", each.by());
            out.writeNumberField("flows", each.flows());
            out.writeNumberField("bytesOut", each.bytesOut());
            out.writeNumberField("bytesIn", each.bytesIn());
            out.writeBooleanField("failed", each.failed());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private void changes(List<FileChange> changes) throws IOException {
        out.writeArrayFieldStart("changes");
        for (FileChange each : changes) {
            out.writeStartObject();
            out.writeStringField("path", each.path());
            out.writeStringField("net", each.net().name().toLowerCase(Locale.ROOT));
            text("was", each.was());
            text("by", each.by());
            out.writeNumberField("bytesWritten", each.bytesWritten());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private void texts(String field, List<String> texts) throws IOException {
        out.writeArrayFieldStart(field);
        for (String each : texts) {
            out.writeString(each);
        }
        out.writeEndArray();
    }

    private void text(String field, @Nullable String text) throws IOException {
        out.writeStringField(field, text);
    }
}
