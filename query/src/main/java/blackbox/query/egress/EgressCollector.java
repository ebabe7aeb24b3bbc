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
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads a run once and gathers its egress: flows that guest or host saw, joined by protocol and endpoints,
/// attempts to connect that made none, and names that were asked for. What stays inside the guest is none.
/// Owned by one thread.
public final class EgressCollector {

    private static final int KEPT_MAX = 200_000;

    /// Of programs that one flow may be of; of more it is as if none were known.
    private static final int CALLERS_MAX = 64;

    private static final String TCP = "tcp";
    private static final String OPEN = "open";

    /// What the protocols of frames begin with that carry no IP.
    private static final Pattern LINK = Pattern.compile("arp|ether-.*");

    /// Names of record types, by IANA's numbers.
    private static final Map<Long, String> TYPES = Map.of(
            1L, "A", 5L, "CNAME", 12L, "PTR", 15L, "MX", 16L, "TXT", 28L, "AAAA", 33L, "SRV", 64L, "SVCB", 65L, "HTTPS",
            255L, "ANY");

    private final Map<Endpoints, Link> links = new LinkedHashMap<>();
    private final Map<Endpoints, Map<Caller, Call>> calls = new LinkedHashMap<>();
    private final Map<Question, Asked> names = new LinkedHashMap<>();
    private final HostAnswers answers = new HostAnswers();
    private final GatewayDecisions decisions = new GatewayDecisions();
    private final Programs programs = new Programs();
    private final LimitCollector limits = new LimitCollector();
    private boolean gateway;
    private int kept;
    private long unkept;
    private long ambiguous;
    private long frames;

    private record Caller(@Nullable Text exe) {}

    private record Question(String name, String type) {}

    private static final class Asked {
        final long index;
        long seen;
        long refused;

        Asked(long index) {
            this.index = index;
        }
    }

    private static final class Call {
        final long index;
        long times;

        Call(long index) {
            this.index = index;
        }
    }

    /// One flow as one side saw it, from its first event to the one that says how it ended.
    private static final class Side {
        final long index;
        boolean isOver;
        long bytesOut;
        long bytesIn;

        @Nullable
        Text exe;

        @Nullable
        String said;

        Side(long index) {
            this.index = index;
        }
    }

    /// The flows between the same endpoints, one after the other.
    private static final class Link {
        final List<Side> byHost = new ArrayList<>();
        final List<Side> byGuest = new ArrayList<>();
        final Set<Text> callers = new LinkedHashSet<>();

        List<Side> flows() {
            return byHost.isEmpty() ? byGuest : byHost;
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
                    call(call, index);
                }
            }
            case NetView.Send call -> call(call, index);
            case NetView.Dns query -> asked(query, index);
            case NetView.Decision decision -> decided(decision, index);
            case RunView.Open open ->
                gateway = RunFacts.detailOf(open.row()).path("network").asText().equals("gateway");
            case NetView.Syn syn -> programs.see(syn);
            case NetView.Bind _,
                    NetView.Listen _,
                    NetView.Accept _,
                    NetView.Miss _,
                    NetView.Exchange _,
                    NetView.SecretUse _,
                    NetView.AgentCall _,
                    FileView _,
                    PrivilegeView _,
                    RecorderView _,
                    VmView _,
                    RunView _,
                    EventView.Unknown _ -> {}
        }
    }

    private void flow(NetView.Flow flow, long index) {
        if (flow.isOfLink() && LINK.matcher(String.valueOf(flow.protocol())).matches()) {
            frames++;
            return;
        }
        Endpoints key = endpoints(flow);
        Link link = key == null ? null : links.computeIfAbsent(key, _ -> new Link());
        if (link == null) {
            return;
        }
        List<Side> sides = flow.isByHost() ? link.byHost : link.byGuest;
        Side side = sides.isEmpty() ? null : sides.getLast();
        if (side == null || side.isOver) {
            if (!hasRoom()) {
                return;
            }
            side = new Side(index);
            sides.add(side);
        }
        side.bytesOut = Counts.sum(side.bytesOut, flow.bytesOut());
        side.bytesIn = Counts.sum(side.bytesIn, flow.bytesIn());
        side.isOver = !OPEN.equals(String.valueOf(flow.ending()));
        if (flow.host() != null) {
            side.said = flow.host().toString();
        }
        Text exe = programs.exe(flow);
        if (exe != null) {
            side.exe = exe;
        }
    }

    private void call(NetView.Call call, long index) {
        Endpoints key = endpoints(call);
        if (key == null) {
            return;
        }
        Text exe = programs.exe(call);
        Map<Caller, Call> byProgram = calls.computeIfAbsent(key.withoutLocal(), _ -> new LinkedHashMap<>());
        var caller = new Caller(exe);
        if (byProgram.containsKey(caller) || hasRoom()) {
            byProgram.computeIfAbsent(caller, _ -> new Call(index)).times++;
        }
        if (key.local() != null && exe != null) {
            Link link = links.get(key);
            if (link != null || hasRoom()) {
                links.computeIfAbsent(key, _ -> new Link()).callers.add(exe);
            }
        }
    }

    /// Whether one more may be kept; what is not is counted.
    private boolean hasRoom() {
        if (kept >= KEPT_MAX) {
            unkept++;
            return false;
        }
        kept++;
        return true;
    }

    private void asked(NetView.Dns query, long index) {
        Text name = query.name();
        if (name == null) {
            return;
        }
        Long type = query.type();
        Asked asked = asked(name.toString(), type == null ? "TYPE0" : TYPES.getOrDefault(type, "TYPE" + type), index);
        if (asked != null) {
            asked.seen++;
        }
        if (query.isByHost() && OwnNetwork.isResolver(query.remoteIp(), query.remotePort())) {
            for (Text answer : query.answers()) {
                if (!answers.add(answer.toString(), name.toString(), index)) {
                    unkept++;
                }
            }
        }
    }

    private @Nullable Asked asked(String name, String type, long index) {
        var question = new Question(name, type);
        if (!names.containsKey(question) && !hasRoom()) {
            return null;
        }
        return names.computeIfAbsent(question, _ -> new Asked(index));
    }

    private void decided(NetView.Decision decision, long index) {
        if (!decision.isByHost()) {
            return;
        }
        String refused = GatewayDecisions.refusedType(decision);
        Text name = decision.host();
        if (refused != null && name != null) {
            Asked asked = asked(name.toString(), refused, index);
            if (asked != null) {
                asked.refused++;
            }
        }
        Endpoints key = endpoints(decision);
        if (key != null && GatewayDecisions.isOfConnection(decision) && hasRoom()) {
            decisions.add(key, decision, index);
        }
    }

    private static @Nullable Endpoints endpoints(NetView event) {
        Text ip = event.remoteIp();
        Text protocol = event.protocol();
        // What the host sees has left the guest, whatever its address.
        boolean isInside = ip != null && !event.isByHost() && IpAddress.isLoopback(ip.toString());
        if (protocol == null || isInside || ip == null && !(event instanceof NetView.Flow)) {
            return null;
        }
        Long port = event.remotePort();
        Long localPort = event.localPort();
        String local = event.localIp() == null ? null : event.localIp() + " " + (localPort == null ? 0 : localPort);
        return new Endpoints(
                protocol.toString(),
                local,
                ip == null ? null : ip.toString(),
                port == null ? null : Integer.valueOf(port.intValue()));
    }

    private RecordedEgress egress(RunFacts facts) {
        var flows = new JoinedFlows();
        var attempts = new JoinedFlows();
        Map<Endpoints, Set<Caller>> programsOf = new LinkedHashMap<>();
        links.forEach((key, link) -> {
            List<Side> sides = link.flows();
            for (int i = 0; i < sides.size(); i++) {
                Collection<Caller> callers = callers(key, link, i);
                programsOf
                        .computeIfAbsent(key.withoutLocal(), _ -> new HashSet<>())
                        .addAll(callers);
                add(flows, attempts, key, sides.get(i), i, sides.size(), callers);
            }
        });
        decisions.keys().forEach(key -> {
            Link link = links.get(key);
            if (link == null || link.flows().isEmpty()) {
                Collection<Caller> callers = link == null || link.callers.isEmpty()
                        ? List.of(callersOf(key))
                        : link.callers.stream().map(Caller::new).toList();
                programsOf
                        .computeIfAbsent(key.withoutLocal(), _ -> new HashSet<>())
                        .addAll(callers);
                List<GatewayDecisions.Outcome> all = decisions.of(key);
                for (int i = 0; i < all.size(); i++) {
                    add(flows, attempts, key, new Side(all.get(i).index()), i, all.size(), callers);
                }
            }
        });
        calls.forEach((key, byProgram) -> byProgram.forEach((caller, call) -> {
            // Where a flow's program is not known, it may be any of those that called, and is judged as none.
            Set<Caller> known = programsOf.getOrDefault(key, Set.of());
            if (!known.contains(caller) && !known.contains(new Caller(null))) {
                flows.add(peer(key, null, call.index, null), text(caller), call.index, call.times, 0, 0);
            }
        }));
        var asked = new ArrayList<RecordedName>();
        names.forEach((question, each) -> asked.add(
                new RecordedName(question.name, question.type, each.index, Math.max(each.seen, each.refused))));
        return new RecordedEgress(facts.run(), gateway, unkept, flows.all(), attempts.all(), asked, said(facts));
    }

    private List<String> said(RunFacts facts) {
        var said = new ArrayList<>(limits.limits(facts));
        if (ambiguous > 0) {
            said.add(ambiguous
                    + " flows shared a source port with others, and which of them was whose is not known: each"
                    + " is listed for all that it may have been");
        }
        if (frames > 0) {
            said.add(frames + " events are of frames without IP, such as ARP, which go no further than the guest's own"
                    + " network; they are not judged");
        }
        if (unkept > 0) {
            said.add("only the first " + KEPT_MAX + " flows and names are listed; " + unkept + " events showed others");
        }
        return said;
    }

    /// Whose the flow in place `i` may have been; nobody known is one of them.
    private Collection<Caller> callers(Endpoints key, Link link, int i) {
        if (link.byGuest.size() == link.flows().size() && link.byGuest.get(i).exe != null) {
            return List.of(new Caller(link.byGuest.get(i).exe));
        }
        var all = new LinkedHashSet<Caller>();
        for (Side side : link.byGuest) {
            if (side.exe != null) {
                all.add(new Caller(side.exe));
            }
        }
        link.callers.forEach(exe -> all.add(new Caller(exe)));
        if (all.size() > CALLERS_MAX) {
            return List.of(new Caller(null));
        }
        return all.isEmpty() ? List.of(callersOf(key)) : all;
    }

    /// The one program that called that peer, if there was but one.
    private Caller callersOf(Endpoints key) {
        Map<Caller, Call> all = calls.getOrDefault(key.withoutLocal(), Map.of());
        return all.size() == 1 ? all.keySet().iterator().next() : new Caller(null);
    }

    private void add(
            JoinedFlows flows,
            JoinedFlows attempts,
            Endpoints key,
            Side side,
            int i,
            int of,
            Collection<Caller> callers) {
        List<GatewayDecisions.Outcome> all = decisions.of(key);
        List<GatewayDecisions.@Nullable Outcome> fitting = new ArrayList<>();
        if (all.size() == of) {
            fitting.add(all.get(i));
        } else if (all.isEmpty()) {
            fitting.add(null);
        } else {
            all.stream().map(GatewayDecisions.Outcome::anyTime).distinct().forEach(fitting::add);
        }
        ambiguous += callers.size() > 1 || fitting.size() > 1 ? 1 : 0;
        boolean first = true;
        for (GatewayDecisions.Outcome outcome : fitting) {
            JoinedFlows to = outcome != null && outcome.isRefused() ? attempts : flows;
            for (Caller caller : callers) {
                to.add(
                        peer(key, side.said, side.index, outcome),
                        text(caller),
                        side.index,
                        1,
                        first ? side.bytesOut : 0,
                        first ? side.bytesIn : 0);
                first = false;
            }
        }
    }

    private static @Nullable String text(Caller caller) {
        return caller.exe == null ? null : caller.exe.toString();
    }

    /// Whom a flow was with, by what the host vouches for.
    private RecordedFlow.Peer peer(
            Endpoints key, @Nullable String said, long index, GatewayDecisions.@Nullable Outcome outcome) {
        String ip = key.ip();
        String host = outcome == null ? null : outcome.host();
        if (ip != null && gateway) {
            if (OwnNetwork.standsForName(ip)) {
                host = host != null ? host : answers.latest(ip, index);
                ip = host == null ? ip : outcome == null ? null : outcome.address();
            } else if (outcome != null && outcome.address() != null) {
                ip = outcome.address();
            }
        } else if (ip != null) {
            host = said == null ? answers.latest(ip, index) : answers.gave(ip, said, index) ? said : null;
        }
        String claimed = said == null || host != null && HostAnswers.isSame(said, host) ? null : said;
        return new RecordedFlow.Peer(key.protocol(), host, claimed, ip, key.port());
    }
}
