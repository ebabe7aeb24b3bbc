package blackbox.query.why;

import blackbox.schemas.row.Text;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.ProcessId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Which process held a TCP connection, by what the guest's kernel told: its `net.connect`, or else its
/// `net.flow`, with the same ports and the same peer; or else the only process that ever connected to that
/// peer. And which names an address had, by what the host saw. Owned by one thread.
final class Connections {

    private static final int KEPT_MAX = 200_000;

    /// Of processes that held a connection with the same ends, one after the other.
    private static final int HOLDERS_MAX = 1024;

    private static final int CALLERS_MAX = 4;
    private static final int NAMES_MAX = 8;
    private static final String MAPPED = "::ffff:";

    /// What a connect returns that goes on or was interrupted: EINPROGRESS, EINTR, ERESTARTSYS.
    private static final Set<Long> GOING_ON = Set.of(0L, -115L, -4L, -512L);

    /// How much later a connect may be told than the host saw its first packet: it is told when the call
    /// returns.
    private static final long RETURN_NS_MAX = 1_000_000_000;

    private final Map<Ends, List<Held>> held = new HashMap<>();
    private final Map<Ends, Set<ProcessId>> callers = new HashMap<>();
    private final Map<String, Set<String>> names = new HashMap<>();
    private int kept;
    private long unkept;

    /// A connection's ends; the guest's own address is left out, since it has but one, and some events do
    /// not have it.
    ///
    /// @param localPort 0 for any
    record Ends(long localPort, String remoteIp, long remotePort) {
        static @Nullable Ends of(NetView event) {
            Text ip = event.remoteIp();
            Long port = event.remotePort();
            if (ip == null || port == null || !"tcp".equals(String.valueOf(event.protocol()))) {
                return null;
            }
            Long local = event.localPort();
            return new Ends(local == null ? 0 : local, address(ip), port);
        }

        Ends withoutLocal() {
            return new Ends(0, remoteIp, remotePort);
        }
    }

    /// @param over whether the connection was over then, and not just begun
    private record Held(ProcessId process, long atNs, boolean over) {
        boolean isSame(ProcessId other, boolean otherOver) {
            return process.equals(other) && over == otherOver && !over;
        }
    }

    /// Who held a connection.
    ///
    /// @param exact whether by both ends of it
    record Holder(ProcessId process, boolean exact) {}

    private static String address(Text ip) {
        String address = ip.toString().toLowerCase(Locale.ROOT);
        return address.startsWith(MAPPED) ? address.substring(MAPPED.length()) : address;
    }

    /// Takes the next event of the network.
    void see(NetView event) {
        switch (event) {
            case NetView.Connect call -> {
                if (GOING_ON.contains(call.ret())) {
                    hold(call, false);
                }
            }
            case NetView.Syn call -> hold(call, false);
            case NetView.Flow flow -> {
                if (flow.isByGuest()) {
                    hold(flow, true);
                }
                name(flow.remoteIp(), flow.host());
            }
            case NetView.Decision decision -> name(decision.remoteIp(), decision.host());
            case NetView.Exchange exchange -> name(exchange.remoteIp(), exchange.host());
            case NetView.SecretUse use -> name(use.remoteIp(), use.host());
            case NetView.AgentCall call -> name(call.remoteIp(), call.host());
            case NetView.Dns query -> {
                if (query.isByHost()) {
                    query.answers().forEach(each -> name(each, query.name()));
                }
            }
            case NetView.Bind _, NetView.Listen _, NetView.Accept _, NetView.Send _, NetView.Miss _ -> {}
        }
    }

    private void hold(NetView event, boolean over) {
        Ends ends = Ends.of(event);
        ProcessId process = event.process();
        if (ends == null || process == null) {
            return;
        }
        Set<ProcessId> all = callers.get(ends.withoutLocal());
        if (all == null && hasRoom()) {
            all = new LinkedHashSet<>();
            callers.put(ends.withoutLocal(), all);
        }
        if (all != null && all.size() < CALLERS_MAX) {
            all.add(process);
        }
        List<Held> holders = ends.localPort() == 0 ? null : held.computeIfAbsent(ends, _ -> new ArrayList<>(1));
        if (holders == null || !holders.isEmpty() && holders.getLast().isSame(process, over)) {
            return;
        }
        if (holders.size() < HOLDERS_MAX && hasRoom()) {
            holders.add(new Held(process, event.atNs(), over));
        } else {
            unkept++;
        }
    }

    private void name(@Nullable Text ip, @Nullable Text host) {
        if (ip == null || host == null) {
            return;
        }
        Set<String> all = names.get(address(ip));
        if (all == null && hasRoom()) {
            all = new LinkedHashSet<>();
            names.put(address(ip), all);
        }
        if (all != null && all.size() < NAMES_MAX) {
            all.add(host.toString().toLowerCase(Locale.ROOT));
        }
    }

    private boolean hasRoom() {
        if (kept >= KEPT_MAX) {
            unkept++;
            return false;
        }
        kept++;
        return true;
    }

    /// Who held the connection with these ends at that time; null if that is not known.
    @Nullable
    Holder holder(@Nullable Ends ends, long atNs) {
        if (ends == null) {
            return null;
        }
        Held best = null;
        for (Held each : held.getOrDefault(ends, List.of())) {
            boolean fits = each.over ? each.atNs >= atNs : each.atNs <= atNs + RETURN_NS_MAX;
            boolean better = best == null
                    || best.over && !each.over
                    || best.over == each.over && (each.over ? each.atNs < best.atNs : each.atNs > best.atNs);
            best = fits && better ? each : best;
        }
        if (best != null) {
            return new Holder(best.process, !isContested(ends, best, atNs));
        }
        Set<ProcessId> all = callers.getOrDefault(ends.withoutLocal(), Set.of());
        return all.size() == 1 ? new Holder(all.iterator().next(), false) : null;
    }

    /// Whether another process began a connection with the same ends that had not ended: in a network namespace of its
    /// own, or with another address, one can do so without being heard by the host.
    private boolean isContested(Ends ends, Held best, long atNs) {
        List<Held> all = held.getOrDefault(ends, List.of());
        for (Held other : all) {
            boolean began = !other.over && other.atNs <= atNs + RETURN_NS_MAX;
            if (began && !other.process.equals(best.process)) {
                boolean ended = all.stream()
                        .anyMatch(each -> each.over
                                && each.process.equals(other.process)
                                && each.atNs >= other.atNs
                                && each.atNs <= Math.max(best.atNs, other.atNs));
                if (!ended) {
                    return true;
                }
            }
        }
        return false;
    }

    /// The names that an address had, in lower case.
    Set<String> names(@Nullable Text ip) {
        return ip == null ? Set.of() : names.getOrDefault(address(ip), Set.of());
    }

    /// What may be missing, in sentences.
    List<String> limits() {
        return unkept == 0
                ? List.of()
                : List.of("only the first " + KEPT_MAX + " connections and names are known here; " + unkept
                        + " events showed others");
    }
}
