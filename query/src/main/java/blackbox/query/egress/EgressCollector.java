package blackbox.query.egress;

import blackbox.evidence.store.Recordings;
import blackbox.query.answer.LimitCollector;
import blackbox.query.answer.Programs;
import blackbox.query.answer.TouchedCollector;
import blackbox.query.run.RunFacts;
import blackbox.schemas.RunId;
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
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Reads a run once and gathers its egress: flows that guest or host saw, joined by protocol and endpoints,
/// attempts to connect that made none, and names that were asked for. What stays inside the guest is none.
/// Owned by one thread.
public final class EgressCollector {

    private static final int KEPT_MAX = 200_000;
    private static final String TCP = "tcp";

    /// Names of record types, by IANA's numbers.
    private static final Map<Long, String> TYPES = Map.of(
            1L, "A", 5L, "CNAME", 12L, "PTR", 15L, "MX", 16L, "TXT", 28L, "AAAA", 33L, "SRV", 64L, "SVCB", 65L, "HTTPS",
            255L, "ANY");

    private final Map<Key, Seen> flows = new LinkedHashMap<>();
    private final Map<Key, Seen> attempts = new LinkedHashMap<>();
    private final Map<Question, Asked> names = new LinkedHashMap<>();
    private final Map<String, String> namesByAddress = new HashMap<>();
    private final Programs programs = new Programs();
    private final LimitCollector limits = new LimitCollector();
    private long unkept;

    private record Key(
            String protocol,
            @Nullable String local,
            String ip,
            @Nullable Integer port) {
        Key withoutLocal() {
            return new Key(protocol, null, ip, port);
        }
    }

    private record Question(String name, String type) {}

    private static final class Asked {
        final long index;
        long count;

        Asked(long index) {
            this.index = index;
        }
    }

    private static final class Seen {
        final long index;

        @Nullable
        Text exe;

        @Nullable
        String host;

        @Nullable
        Long outByGuest;

        @Nullable
        Long inByGuest;

        @Nullable
        Long outByHost;

        @Nullable
        Long inByHost;

        long times;
        boolean isOfSeveral;

        Seen(long index) {
            this.index = index;
        }

        long bytesOut() {
            return outByHost != null ? outByHost : outByGuest != null ? outByGuest : 0;
        }

        long bytesIn() {
            return inByHost != null ? inByHost : inByGuest != null ? inByGuest : 0;
        }
    }

    private EgressCollector() {}

    /// What `run` sent out, as far as it is recorded now.
    public static RecordedEgress collect(Recordings recordings, RunId run) throws IOException {
        var collector = new EgressCollector();
        RunFacts facts = TouchedCollector.read(recordings, run, collector::see);
        return collector.egress(facts);
    }

    private void see(EventView event, long index) {
        limits.see(event, index);
        switch (event) {
            case ProcessView process -> programs.see(process);
            case NetView.Flow flow -> flow(flow, index);
            case NetView.Connect call -> {
                // A UDP socket that is connected has sent nothing: resolvers do it to choose an address.
                if (TCP.equals(String.valueOf(call.protocol()))) {
                    attempt(call, index);
                }
            }
            case NetView.Send call -> attempt(call, index);
            case NetView.Dns query -> asked(query, index);
            case NetView.Listen _,
                    NetView.Accept _,
                    NetView.Miss _,
                    NetView.Decision _,
                    FileView _,
                    PrivilegeView _,
                    RecorderView _,
                    VmView _,
                    RunView _,
                    EventView.Unknown _ -> {}
        }
    }

    private void flow(NetView.Flow flow, long index) {
        Key key = key(flow);
        Seen seen = key == null ? null : seen(flows, key, index);
        if (seen == null) {
            return;
        }
        if (flow.isByHost()) {
            seen.outByHost = sum(seen.outByHost, flow.bytesOut());
            seen.inByHost = sum(seen.inByHost, flow.bytesIn());
        } else {
            seen.outByGuest = sum(seen.outByGuest, flow.bytesOut());
            seen.inByGuest = sum(seen.inByGuest, flow.bytesIn());
        }
        Text host = flow.host();
        if (host != null) {
            seen.host = host.toString();
        }
        Text exe = programs.exe(flow);
        if (exe != null) {
            seen.exe = exe;
        }
    }

    private static long sum(@Nullable Long before, long more) {
        return before == null ? more : Counts.sum(before, more);
    }

    private void attempt(NetView.Call call, long index) {
        Key key = key(call);
        if (key == null) {
            return;
        }
        Text exe = programs.exe(call);
        Seen attempt = seen(attempts, key.withoutLocal(), index);
        if (attempt != null) {
            boolean another = attempt.times > 0 && !Objects.equals(attempt.exe, exe);
            attempt.times++;
            attempt.isOfSeveral |= another;
            attempt.exe = attempt.isOfSeveral ? null : exe; // whose a flow is that only the host saw is then not known
        }
        Seen flow = key.local == null ? null : flows.get(key);
        if (flow != null && flow.exe == null) {
            flow.exe = exe;
        }
    }

    private @Nullable Seen seen(Map<Key, Seen> map, Key key, long index) {
        Seen seen = map.get(key);
        if (seen == null && flows.size() + attempts.size() >= KEPT_MAX) {
            unkept++;
            return null;
        }
        if (seen == null) {
            seen = new Seen(index);
            map.put(key, seen);
        }
        return seen;
    }

    private void asked(NetView.Dns query, long index) {
        Text name = query.name();
        if (name == null) {
            return;
        }
        Long type = query.type();
        var question = new Question(name.toString(), type == null ? "TYPE0" : TYPES.getOrDefault(type, "TYPE" + type));
        if (names.size() + namesByAddress.size() >= KEPT_MAX && !names.containsKey(question)) {
            unkept++;
            return;
        }
        names.computeIfAbsent(question, _ -> new Asked(index)).count++;
        for (Text answer : query.answers()) {
            String address = answer.toString();
            if (namesByAddress.containsKey(address) || names.size() + namesByAddress.size() < KEPT_MAX) {
                namesByAddress.put(address, name.toString());
            } else {
                unkept++;
            }
        }
    }

    private static @Nullable Key key(NetView event) {
        Text ip = event.remoteIp();
        Text protocol = event.protocol();
        if (ip == null || protocol == null || IpAddress.isLoopback(ip.toString())) {
            return null;
        }
        Long port = event.remotePort();
        Long localPort = event.localPort();
        String local = event.localIp() == null ? null : event.localIp() + " " + (localPort == null ? 0 : localPort);
        return new Key(
                protocol.toString(), local, ip.toString(), port == null ? null : Integer.valueOf(port.intValue()));
    }

    private RecordedEgress egress(RunFacts facts) {
        Map<RecordedFlow.Peer, Map<String, RecordedFlow>> joined = new LinkedHashMap<>();
        flows.forEach((key, seen) -> {
            Seen tried = attempts.get(key.withoutLocal());
            Text exe = seen.exe != null ? seen.exe : tried == null ? null : tried.exe;
            add(joined, key, seen, exe, 1);
        });
        flows.keySet().forEach(key -> attempts.remove(key.withoutLocal()));
        attempts.forEach((key, seen) -> add(joined, key, seen, seen.exe, seen.times));
        var all = new ArrayList<RecordedFlow>();
        joined.values().forEach(byProgram -> all.addAll(byProgram.values()));
        var asked = new ArrayList<RecordedName>();
        names.forEach(
                (question, each) -> asked.add(new RecordedName(question.name, question.type, each.index, each.count)));
        var said = new ArrayList<>(limits.limits(facts));
        if (unkept > 0) {
            said.add("only the first " + KEPT_MAX + " flows and names are listed; " + unkept + " events showed others");
        }
        return new RecordedEgress(facts.run(), all, asked, said);
    }

    private void add(
            Map<RecordedFlow.Peer, Map<String, RecordedFlow>> joined,
            Key key,
            Seen seen,
            @Nullable Text exe,
            long count) {
        String host = seen.host != null ? seen.host : namesByAddress.get(key.ip);
        var peer = new RecordedFlow.Peer(key.protocol, host, key.ip, key.port);
        String program = exe == null ? null : exe.toString();
        var flow = new RecordedFlow(peer, program, seen.index, count, seen.bytesOut(), seen.bytesIn());
        joined.computeIfAbsent(peer, _ -> new LinkedHashMap<>())
                .merge(
                        String.valueOf(program),
                        flow,
                        (one, other) -> new RecordedFlow(
                                peer,
                                program,
                                Math.min(one.index(), other.index()),
                                one.count() + other.count(),
                                Counts.sum(one.bytesOut(), other.bytesOut()),
                                Counts.sum(one.bytesIn(), other.bytesIn())));
    }
}
