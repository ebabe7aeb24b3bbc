package blackbox.replay.cassette;

import blackbox.replay.request.Difference;
import blackbox.schemas.Hash;
import blackbox.schemas.event.Endpoint;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/// A request of a re-executed guest that its recording does not answer. The guest was refused.
///
/// @param kind what was asked
/// @param protocol `tcp`, `udp`, `icmp`
/// @param remote who was asked; port 0 if there are no ports
/// @param why the reason in words
/// @param expected what the recording has at this point, null if nothing
/// @param actual what arrived, up to the refusal; null if nothing
/// @param difference where they differ; null if nothing was compared
public record Miss(
        Kind kind,
        String protocol,
        Endpoint remote,
        String why,
        @Nullable Content expected,
        @Nullable Content actual,
        @Nullable Difference difference) {

    private static final JsonMapper JSON = new JsonMapper();

    /// What was asked.
    public enum Kind {
        /// A connection.
        CONNECT,
        /// Octets over a connection.
        REQUEST,
        /// A DNS question.
        DNS,
        /// Any other datagram.
        DATAGRAM
    }

    /// Octets, by their digest: the content stays secret in the captures.
    public record Content(Hash sha256, long bytes) {}

    /// As the detail of a `net.miss` event, without the octets; see `schemas/events.md`.
    public String json() {
        ObjectNode json = JSON.createObjectNode().put("protocol", protocol);
        json.putObject("remote").put("ip", remote.ip()).put("port", remote.port());
        json.put("why", why);
        content(json, "expected", expected);
        content(json, "actual", actual);
        if (difference != null) {
            json.put("firstDifference", difference.at());
        }
        return json.toString();
    }

    private static void content(ObjectNode json, String name, @Nullable Content content) {
        if (content != null) {
            json.putObject(name).put("sha256", content.sha256().toString()).put("bytes", content.bytes());
        }
    }
}
