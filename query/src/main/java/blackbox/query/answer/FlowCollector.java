package blackbox.query.answer;

import blackbox.schemas.net.IpAddress;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.Counts;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.PrivilegeView;
import blackbox.schemas.view.ProcessView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import blackbox.schemas.view.VmView;
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
    private final Rooms rooms;
    private long unkept;

    /// How much is kept of each.
    record Rooms(Room flows, Room attempts, Room names) {
        static Rooms ofOneAnswer() {
            return new Rooms(new Room(FLOWS_MAX), new Room(FLOWS_MAX), new Room(FLOWS_MAX));
        }
    }

    FlowCollector(Rooms rooms) {
        this.rooms = rooms;
    }

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

    void see(EventView event) {
        switch (event) {
            case NetView.Flow flow -> flow(flow);
            case NetView.Connect call -> attempt(call);
            case NetView.Send call -> attempt(call);
            case NetView.Dns query -> answers(query);
            case NetView.Syn _,
                    NetView.Bind _,
                    NetView.Listen _,
                    NetView.Accept _,
                    NetView.Miss _,
                    NetView.Decision _,
                    NetView.Exchange _,
                    NetView.SecretUse _,
                    NetView.AgentCall _ -> {}
            case ProcessView _,
                    FileView _,
                    PrivilegeView _,
                    RecorderView _,
                    VmView _,
                    RunView _,
                    EventView.Unknown _ -> {}
        }
    }

    private void flow(NetView.Flow flow) {
        Key key = key(flow);
        if (key == null) {
            link(flow);
            return;
        }
        if (!flows.containsKey(key) && !rooms.flows().take()) {
            unkept++;
            return;
        }
        Seen seen = flows.computeIfAbsent(key, _ -> new Seen());
        var octets = new Touched.Octets(flow.bytesOut(), flow.bytesIn());
        if (flow.isByHost()) {
            seen.onWire = sum(seen.onWire, octets);
        } else {
            seen.guest = sum(seen.guest, octets);
        }
        Text host = flow.host();
        if (host != null) {
            seen.host = host.toString();
        }
    }

    private void link(NetView.Flow flow) {
        Text protocol = flow.protocol();
        if (flow.isOfLink() && flow.isByHost() && protocol != null) {
            String name = protocol.toString();
            if (links.containsKey(name) || links.size() < LINKS_MAX) {
                links.put(name, sum(links.get(name), new Touched.Octets(flow.bytesOut(), flow.bytesIn())));
            }
        }
    }

    List<Touched.LinkTraffic> linkLayer() {
        return links.entrySet().stream()
                .map(link -> new Touched.LinkTraffic(link.getKey(), link.getValue()))
                .toList();
    }

    private static Touched.Octets sum(Touched.@Nullable Octets before, Touched.Octets more) {
        return before == null
                ? more
                : new Touched.Octets(Counts.sum(before.out(), more.out()), Counts.sum(before.in(), more.in()));
    }

    private void attempt(NetView.Call call) {
        Key key = key(call);
        if (key == null) {
            return;
        }
        if (!attempts.containsKey(key.withoutLocal()) && !rooms.attempts().take()) {
            unkept++;
        } else {
            long ret = call.ret() == EINPROGRESS ? 0 : call.ret();
            // One attempt that succeeded outweighs any number that failed.
            attempts.merge(key.withoutLocal(), Math.min(ret, 0), Math::max);
        }
    }

    private void answers(NetView.Dns query) {
        Text name = query.name();
        if (name == null) {
            return;
        }
        for (Text answer : query.answers()) {
            if (namesByAddress.containsKey(answer.toString()) || rooms.names().take()) {
                namesByAddress.put(answer.toString(), name.toString());
            }
        }
    }

    private static @Nullable Key key(NetView event) {
        Text remoteIp = event.remoteIp();
        Text protocol = event.protocol();
        if (remoteIp == null || protocol == null) {
            return null;
        }
        String remote = remoteIp.toString();
        if (IpAddress.isLoopback(remote)) {
            return null;
        }
        Text localIp = event.localIp();
        Long localPort = event.localPort();
        String local = localIp == null ? null : localIp + " " + (localPort == null ? 0 : localPort);
        Long port = event.remotePort();
        return new Key(protocol.toString(), local, remote, port == null ? null : Integer.valueOf(port.intValue()));
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
            limits.add(guestOnly + " flows were seen only by the guest, not on the wire");
        }
        if (wireOnly > 0) {
            limits.add(wireOnly + " flows were seen only on the wire: which process made them is not known");
        }
        limits.addAll(unkept());
        return limits;
    }

    /// What could not be listed.
    List<String> unkept() {
        return unkept == 0
                ? List.of()
                : List.of("only the first " + FLOWS_MAX + " flows are listed; " + unkept + " others were seen");
    }
}
