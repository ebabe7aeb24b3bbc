package blackbox.replay.compare;

import blackbox.replay.divergence.strand.EventSource;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.util.HashSet;
import java.util.Set;

/// A side's events without the octets of connections in whose TLS what was said is known to agree, or whose difference
/// is an event of its own: on the wire each side has its own certificates, keys and records, of other lengths.
public final class OwnTls {
    private static final Text TCP = Text.of("tcp");

    private OwnTls() {}

    /// @param endpoints of the connections
    public static EventSource without(EventSource events, Set<Endpoint> endpoints) {
        var ports = new HashSet<Long>();
        endpoints.forEach(each -> ports.add((long) each.port()));
        return endpoints.isEmpty()
                ? events
                : events.through((row, _) -> {
                    if (isOfThem(row, endpoints, ports)) {
                        row.unset(Column.BYTES_OUT).unset(Column.BYTES_IN);
                    }
                    return true;
                });
    }

    private static boolean isOfThem(Row row, Set<Endpoint> endpoints, Set<Long> ports) {
        return row.has(Column.KIND)
                && row.number(Column.KIND) == Kind.NET_FLOW.code()
                && row.has(Column.PROTOCOL)
                && row.text(Column.PROTOCOL).equals(TCP)
                && row.has(Column.REMOTE_PORT)
                && ports.contains(row.number(Column.REMOTE_PORT))
                && row.has(Column.REMOTE_IP)
                && endpoints.contains(
                        new Endpoint(row.text(Column.REMOTE_IP).toString(), (int) row.number(Column.REMOTE_PORT)));
    }
}
