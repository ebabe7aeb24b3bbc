package blackbox.replay.divergence.strand;

import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.PrivilegeView;
import blackbox.schemas.view.ProcessView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import blackbox.schemas.view.VmView;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;

/// What an event says was done, as far as two sides are compared by it; kept beyond the event's row.
public sealed interface Deed {

    /// A file was opened, or could not be.
    record Opened(@Nullable String path, boolean failed) implements Deed {}

    /// A file was read and written, in octets.
    record Transferred(@Nullable String path, long bytesRead, long bytesWritten) implements Deed {}

    /// Anything else was done to a file.
    record Changed(@Nullable String path) implements Deed {}

    /// A peer was called: `ret` is a negated errno on failure.
    record Called(@Nullable Peer peer, long ret) implements Deed {}

    /// A flow ended or began, as `ending` says, and brought octets to the guest.
    record Flowed(
            @Nullable Peer peer,
            long localPort,
            long bytesIn,
            @Nullable String ending) implements Deed {}

    /// A name was asked for.
    record Asked(@Nullable String name) implements Deed {}

    /// A replay asked for something that its recording does not contain.
    ///
    /// @param why in words, with the first octet that differs, if any was compared
    record Missed(@Nullable Peer peer, String why) implements Deed {
        private static final ObjectMapper JSON = new ObjectMapper();

        static Missed of(NetView.Miss miss) {
            Text detail = miss.detail();
            try {
                JsonNode json = JSON.readTree(detail == null ? "{}" : detail.toString());
                JsonNode remote = json.path("remote");
                Peer peer = remote.path("ip").isTextual()
                        ? new Peer(
                                remote.path("ip").asText(), remote.path("port").asLong())
                        : null;
                String octet =
                        json.has("firstDifference") ? ", from octet " + json.path("firstDifference") + " on" : "";
                return new Missed(peer, json.path("why").asText("") + octet);
            } catch (JsonProcessingException _) {
                return new Missed(null, "");
            }
        }
    }

    /// Anything else.
    record Other() implements Deed {}

    /// What it is done to: the path, the peer, or the name that is asked for; null where that is nothing of these.
    default @Nullable String subject() {
        return switch (this) {
            case Opened opened -> opened.path();
            case Transferred transferred -> transferred.path();
            case Changed changed -> changed.path();
            case Called called -> inWords(called.peer());
            case Flowed flowed -> inWords(flowed.peer());
            case Missed missed -> inWords(missed.peer());
            case Asked asked -> asked.name();
            case Other _ -> null;
        };
    }

    private static @Nullable String inWords(@Nullable Peer peer) {
        return peer == null ? null : peer.toString();
    }

    /// The remote end of a call or flow; port 0 if there is none.
    record Peer(String ip, long port) {

        @Override
        public String toString() {
            return ip + ":" + port;
        }

        static @Nullable Peer of(NetView event) {
            Text ip = event.remoteIp();
            return ip == null ? null : new Peer(ip.toString(), orNone(event.remotePort()));
        }
    }

    static Deed of(EventView event) {
        return switch (event) {
            case FileView.Open open -> new Opened(text(open.path()), open.failed());
            case FileView.Io io -> new Transferred(text(io.path()), io.bytesRead(), io.bytesWritten());
            case FileView file -> new Changed(text(file.path()));
            case NetView.Connect call -> new Called(Peer.of(call), call.ret());
            case NetView.Send call -> new Called(Peer.of(call), call.ret());
            case NetView.Flow flow ->
                new Flowed(Peer.of(flow), orNone(flow.localPort()), flow.bytesIn(), text(flow.ending()));
            case NetView.Dns query -> new Asked(text(query.name()));
            case NetView.Miss miss -> Missed.of(miss);
            case NetView _, ProcessView _, PrivilegeView _, RecorderView _, VmView _, RunView _, EventView.Unknown _ ->
                new Other();
        };
    }

    private static @Nullable String text(@Nullable Text text) {
        return text == null ? null : text.toString();
    }

    private static long orNone(@Nullable Long port) {
        return port == null ? 0 : port;
    }
}
