package blackbox.query.why;

import blackbox.evidence.text.Timestamps;
import blackbox.schemas.view.FileEffect;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/// [Caused] as a JSON object.
public final class CausedJson {

    private CausedJson() {}

    /// Writes the object.
    public static void write(JsonGenerator out, Caused caused) throws IOException {
        out.writeStartObject();
        out.writeStringField("run", caused.run().value());
        out.writeStringField("call", caused.call());
        out.writeArrayFieldStart("tools");
        for (Caused.OfTool tool : caused.tools()) {
            write(out, tool);
        }
        out.writeEndArray();
        programs(out, "untied", caused.untied());
        out.writeNumberField("untiedCount", caused.untiedCount());
        WhyJson.texts(out, "limits", caused.limits());
        out.writeEndObject();
    }

    private static void write(JsonGenerator out, Caused.OfTool tool) throws IOException {
        Caused.Used used = tool.used();
        out.writeStartObject();
        out.writeNumberField("index", used.index());
        out.writeNumberField("call", used.call());
        out.writeStringField("id", used.id());
        out.writeStringField("name", used.name());
        out.writeStringField("what", used.what());
        WhyJson.grade(out, tool.grade());
        out.writeObjectFieldStart("window");
        out.writeStringField("from", Timestamps.format(used.window().fromNs()));
        out.writeStringField("to", Timestamps.format(used.window().toNs()));
        out.writeStringField("end", used.window().end().word());
        out.writeEndObject();
        if (used.broughtBy() == null) {
            out.writeNullField("broughtBy");
        } else {
            out.writeNumberField("broughtBy", used.broughtBy());
        }
        programs(out, "execs", tool.effects().execs());
        out.writeArrayFieldStart("files");
        for (Caused.File file : tool.effects().files()) {
            write(out, file);
        }
        out.writeEndArray();
        out.writeArrayFieldStart("connects");
        for (Caused.Peer peer : tool.effects().connects()) {
            write(out, peer);
        }
        out.writeEndArray();
        others(out, "privileges", tool.effects().privileges());
        others(out, "mcpCalls", tool.effects().mcpCalls());
        out.writeNumberField("leftOff", tool.effects().leftOff());
        WhyJson.texts(out, "notes", tool.notes());
        out.writeEndObject();
    }

    private static void programs(JsonGenerator out, String name, List<Caused.Program> programs) throws IOException {
        out.writeArrayFieldStart(name);
        for (Caused.Program each : programs) {
            out.writeStartObject();
            out.writeNumberField("index", each.index());
            out.writeStringField("at", Timestamps.format(each.atNs()));
            WhyJson.grade(out, each.grade() == null ? Grade.X : each.grade());
            out.writeNumberField("pid", each.pid());
            out.writeStringField("what", each.what());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private static void write(JsonGenerator out, Caused.File file) throws IOException {
        out.writeStartObject();
        out.writeNumberField("index", file.index());
        WhyJson.grade(out, file.grade());
        out.writeStringField("path", file.path());
        WhyJson.texts(
                out,
                "effects",
                file.effects().stream()
                        .sorted()
                        .map(FileEffect::name)
                        .map(each -> each.toLowerCase(Locale.ROOT))
                        .toList());
        out.writeNumberField("bytesRead", file.bytesRead());
        out.writeNumberField("bytesWritten", file.bytesWritten());
        out.writeEndObject();
    }

    private static void write(JsonGenerator out, Caused.Peer peer) throws IOException {
        out.writeStartObject();
        out.writeNumberField("index", peer.index());
        WhyJson.grade(out, peer.grade());
        out.writeStringField("protocol", peer.protocol());
        out.writeStringField("address", peer.address());
        WhyJson.texts(out, "names", peer.names());
        out.writeNumberField("count", peer.count());
        out.writeEndObject();
    }

    private static void others(JsonGenerator out, String name, List<Caused.Other> others) throws IOException {
        out.writeArrayFieldStart(name);
        for (Caused.Other each : others) {
            out.writeStartObject();
            out.writeNumberField("index", each.index());
            WhyJson.grade(out, each.grade());
            out.writeStringField("kind", each.kind());
            out.writeStringField("what", each.what());
            out.writeNumberField("count", each.count());
            out.writeEndObject();
        }
        out.writeEndArray();
    }
}
