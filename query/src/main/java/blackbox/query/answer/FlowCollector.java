package blackbox.query.answer;

import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Joins what the guest's kernel and the host saw of the same traffic, by protocol and both endpoints. Traffic
/// that never leaves the guest (to a loopback address) is not egress.
final class FlowCollector {

    private static final int FLOWS_MAX = 500_000;
    private static final int LINKS_MAX = 1_000;
    private static final long EINPROGRESS = -115;

    private final Map<Key, Seen> flows = new LinkedHashMap<>();
    private final Map<Key, Long> attempts = new LinkedHashMap<>();
    private final Map<String, Touched.Octets> links = new TreeMap<>();
    private final Map<String, String> namesByAddress = new HashMap<>();
    private long unkept;

    private record Key(
            String protocol,
            @Nullable String local,
            String remoteIp,
            @Nullable Integer remotePort) {
        Key withoutLocal() {
            return new Key(protocol, null, remoteIp, remotePort);
        }
    }

    private static final class Seen {
        Touched.@Nullable Octets guest;
        Touched.@Nullable Octets onWire;

        @Nullable
        String host;
    }

    void see(Kind kind, Row row) {
        switch (kind) {
            case NET_FLOW -> flow(row);
            case NET_CONNECT, NET_SEND -> attempt(row);
            case DNS_QUERY -> answers(row);
            default -> {}
        }
    }

    private void flow(Row row) {
        Key key = key(row);
        if (key == null) {
            link(row);
            return;
        }
        if (!flows.containsKey(key) && flows.size() >= FLOWS_MAX) {
            unkept++;
            return;
        }
        Seen seen = flows.computeIfAbsent(key, _ -> new Seen());
        var octets = new Touched.Octets(number(row, Column.BYTES_OUT), number(row, Column.BYTES_IN));
        if (row.number(Column.SOURCE) == Source.HOST.code()) {
            seen.onWire = sum(seen.onWire, octets);
        } else {
            seen.guest = sum(seen.guest, octets);
        }
        if (row.has(Column.HOST)) {
            seen.host = row.text(Column.HOST).toString();
        }
    }

    private void link(Row row) {
        boolean addressed = row.has(Column.REMOTE_IP) || row.has(Column.LOCAL_IP);
        if (!addressed && row.has(Column.PROTOCOL) && row.number(Column.SOURCE) == Source.HOST.code()) {
            String protocol = row.text(Column.PROTOCOL).toString();
            if (links.containsKey(protocol) || links.size() < LINKS_MAX) {
                var octets = new Touched.Octets(number(row, Column.BYTES_OUT), number(row, Column.BYTES_IN));
                links.put(protocol, sum(links.get(protocol), octets));
            }
        }
    }

    List<Touched.LinkTraffic> linkLayer() {
        return links.entrySet().stream()
                .map(link -> new Touched.LinkTraffic(link.getKey(), link.getValue()))
                .toList();
    }

    private static Touched.Octets sum(Touched.@Nullable Octets before, Touched.Octets more) {
        return before == null ? more : new Touched.Octets(before.out() + more.out(), before.in() + more.in());
    }

    private void attempt(Row row) {
        Key key = key(row);
        if (key != null && (attempts.containsKey(key.withoutLocal()) || attempts.size() < FLOWS_MAX)) {
            long ret = row.has(Column.RET) && row.number(Column.RET) != EINPROGRESS ? row.number(Column.RET) : 0;
            // One attempt that went through outweighs any number that did not.
            attempts.merge(key.withoutLocal(), Math.min(ret, 0), Math::max);
        }
    }

    private void answers(Row row) {
        if (!row.has(Column.ANSWERS) || !row.has(Column.HOST)) {
            return;
        }
        String name = row.text(Column.HOST).toString();
        for (Text answer : row.list(Column.ANSWERS)) {
            if (namesByAddress.size() < FLOWS_MAX) {
                namesByAddress.put(answer.toString(), name);
            }
        }
    }

    private static long number(Row row, Column column) {
        return row.has(column) ? row.number(column) : 0;
    }

    private static @Nullable Key key(Row row) {
        if (!row.has(Column.REMOTE_IP) || !row.has(Column.PROTOCOL)) {
            return null;
        }
        String remote = row.text(Column.REMOTE_IP).toString();
        if (remote.startsWith("127.") || remote.equals("::1")) {
            return null;
        }
        String local =
                row.has(Column.LOCAL_IP) ? row.text(Column.LOCAL_IP) + " " + number(row, Column.LOCAL_PORT) : null;
        Integer port = row.has(Column.REMOTE_PORT) ? Integer.valueOf((int) row.number(Column.REMOTE_PORT)) : null;
        return new Key(row.text(Column.PROTOCOL).toString(), local, remote, port);
    }

    List<Touched.Flow> flows() {
        var egress = new ArrayList<Touched.Flow>();
        Set<Key> reached = new HashSet<>();
        flows.forEach((key, seen) -> {
            reached.add(key.withoutLocal());
            egress.add(flow(key, seen.host, seen.guest, seen.onWire, null));
        });
        attempts.forEach((key, ret) -> {
            if (!reached.contains(key)) {
                egress.add(flow(key, null, new Touched.Octets(0, 0), null, ret < 0 ? ret : null));
            }
        });
        return egress;
    }

    private Touched.Flow flow(
            Key key,
            @Nullable String host,
            Touched.@Nullable Octets guest,
            Touched.@Nullable Octets onWire,
            @Nullable Long failedWith) {
        String name = host != null ? host : namesByAddress.get(key.remoteIp);
        return new Touched.Flow(key.protocol, key.local, key.remoteIp, key.remotePort, name, guest, onWire, failedWith);
    }

    List<String> limits() {
        var limits = new ArrayList<String>();
        long guestOnly =
                flows.values().stream().filter(seen -> seen.onWire == null).count();
        long wireOnly =
                flows.values().stream().filter(seen -> seen.guest == null).count();
        if (guestOnly > 0) {
            limits.add(guestOnly + " flows were seen by the guest alone, not on the wire");
        }
        if (wireOnly > 0) {
            limits.add(wireOnly + " flows were seen on the wire alone: which process made them is not known");
        }
        if (unkept > 0) {
            limits.add("only the first " + FLOWS_MAX + " flows are listed; " + unkept + " others were seen");
        }
        return limits;
    }
}
