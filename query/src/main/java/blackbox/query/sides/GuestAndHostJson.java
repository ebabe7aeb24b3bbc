package blackbox.query.sides;

import blackbox.schemas.event.FindingDetail.SidesDiffer;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Writes what guest and host saw as JSON.
public final class GuestAndHostJson {

    private GuestAndHostJson() {}

    /// Writes the field `guestAndHost`.
    public static void writeField(JsonGenerator out, GuestAndHost sides) throws IOException {
        out.writeObjectFieldStart("guestAndHost");
        out.writeBooleanField("compared", sides.compared());
        out.writeNumberField("connections", sides.connections());
        out.writeNumberField("datagrams", sides.exchanges());
        out.writeArrayFieldStart("findings");
        for (GuestAndHost.Sealed each : sides.findings()) {
            SidesDiffer differs = each.differs();
            out.writeStartObject();
            out.writeStringField("finding", differs.finding().name());
            out.writeStringField("protocol", differs.protocol());
            out.writeStringField("local", differs.local());
            out.writeStringField("remote", differs.remote());
            out.writeStringField("host", differs.host());
            out.writeStringField("said", differs.said());
            number(out, "guestEvent", differs.guestEvent());
            number(out, "hostEvent", differs.hostEvent());
            out.writeStringField("unknown", differs.unknown());
            out.writeNumberField("index", each.index());
            out.writeNumberField("count", differs.count());
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeEndObject();
    }

    private static void number(JsonGenerator out, String name, @Nullable Long value) throws IOException {
        if (value == null) {
            out.writeNullField(name);
        } else {
            out.writeNumberField(name, value);
        }
    }
}
