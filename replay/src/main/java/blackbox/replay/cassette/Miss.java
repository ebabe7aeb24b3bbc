package blackbox.replay.cassette;

import blackbox.schemas.Hash;
import blackbox.schemas.event.Endpoint;
import org.jspecify.annotations.Nullable;

/// Something that a re-executed guest asked and that its recording does not answer. The guest got a refusal.
///
/// @param kind what was asked
/// @param protocol `tcp`, `udp`, `icmp`
/// @param remote whom; port 0 where there are none
/// @param why in words
/// @param expected what the recording has in this place, null when it has nothing
/// @param actual what came, up to the refusal; null when nothing did
/// @param firstDifference the first octet that differs, counted from 0; -1 where nothing was compared
public record Miss(
        Kind kind,
        String protocol,
        Endpoint remote,
        String why,
        @Nullable Content expected,
        @Nullable Content actual,
        long firstDifference) {

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

    /// Octets, by their digest: what was said stays a secret of the captures.
    public record Content(Hash sha256, long bytes) {}

    /// As the detail of a `net.miss` event; see `schemas/events.md`.
    public String json() {
        var json = new StringBuilder("{\"protocol\":\"").append(protocol);
        json.append("\",\"remote\":{\"ip\":\"").append(remote.ip());
        json.append("\",\"port\":").append(remote.port());
        json.append("},\"why\":\"").append(why).append('"');
        content(json, "expected", expected);
        content(json, "actual", actual);
        if (firstDifference >= 0) {
            json.append(",\"firstDifference\":").append(firstDifference);
        }
        return json.append('}').toString();
    }

    private static void content(StringBuilder json, String name, @Nullable Content content) {
        if (content != null) {
            json.append(",\"").append(name).append("\":{\"sha256\":\"").append(content.sha256());
            json.append("\",\"bytes\":").append(content.bytes()).append('}');
        }
    }
}
