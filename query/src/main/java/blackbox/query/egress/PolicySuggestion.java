package blackbox.query.egress;

import blackbox.policy.Hold;
import blackbox.policy.Mode;
import blackbox.policy.Policy;
import blackbox.policy.Rule;
import blackbox.policy.decide.Decision;
import blackbox.policy.decide.Evaluator;
import blackbox.policy.decide.Request;
import blackbox.policy.host.Address;
import blackbox.policy.host.AddressKind;
import blackbox.policy.host.HostName;
import blackbox.policy.host.Ports;
import blackbox.schemas.view.Counts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Writes the narrowest policy that allows what runs did: exact names, or addresses where no name is known, and
/// ports. Programs, and records beside addresses, are comments unless they are asked for; what no policy allows
/// always is one.
public final class PolicySuggestion {

    private static final int ASKED_ONLY_MAX = 50;
    private static final int CLAIMED_MAX = 5;
    private static final Evaluator NOTHING = new Evaluator(
            new Policy(Mode.ENFORCE, Hold.NOTHING, List.of(), List.of(), List.of(), List.of(), List.of(), List.of()),
            List.of());
    private static final int DNS_OVER_TLS = 853;

    private final Map<Destination, Use> uses = new LinkedHashMap<>();
    private final List<String> left = new ArrayList<>();
    private final Map<String, Set<String>> records = new TreeMap<>();
    private final Set<String> asked = new TreeSet<>();

    private final Set<String> attempts = new TreeSet<>();
    private final Options options;

    /// What is written that the egress gateway does not take yet.
    ///
    /// @param programs whether rules are for the programs that were seen
    /// @param dns whether records beside addresses are allowed
    public record Options(boolean programs, boolean dns) {}

    /// A name, or an address that no name is known for; both where a rule must name the address.
    private record Destination(
            @Nullable String host, @Nullable String address) {}

    private static final class Use {
        final Map<String, Set<Integer>> portsByProgram = new TreeMap<>();
        final Set<Integer> portsOfUnknown = new TreeSet<>();
        final Set<String> claimed = new TreeSet<>();
        long count;
        long bytesOut;
        long bytesIn;

        Set<Integer> ports() {
            var all = new TreeSet<>(portsOfUnknown);
            portsByProgram.values().forEach(all::addAll);
            return all;
        }
    }

    private PolicySuggestion(Options options) {
        this.options = options;
    }

    /// A policy as YAML, for the runs together.
    ///
    /// @param names what the runs are called, for its first comment
    public static String of(List<RecordedEgress> runs, List<String> names, Options options) {
        var suggestion = new PolicySuggestion(options);
        for (RecordedEgress run : runs) {
            run.flows().stream()
                    .filter(flow -> !OwnNetwork.isUpkeep(flow.peer()))
                    .forEach(flow -> suggestion.add(flow, run.gateway()));
            run.attempts().forEach(flow -> suggestion.attempts.add(shown(flow.peer())));
            run.names().forEach(suggestion::add);
        }
        return suggestion.text(names);
    }

    private void add(RecordedFlow flow, boolean gateway) {
        RecordedFlow.Peer peer = flow.peer();
        Address address = peer.ip() == null ? null : Address.parse(OwnNetwork.withoutZone(peer.ip()));
        Integer port = peer.port();
        String host = name(peer.host());
        if (peer.ip() == null && peer.host() == null) {
            left.add(peer.protocol() + ": the record has no address that a rule could name");
            return;
        }
        if (!peer.protocol().equals("tcp") || port == null || port < 1 || port > Ports.PORT_MAX) {
            left.add(shown(peer) + ": only TCP can be allowed");
            return;
        }
        if (peer.host() != null && host == null) {
            left.add(shown(peer) + ": the name that was asked for is no host name, and so it is always refused");
            return;
        }
        if (host != null && isSpecial(host)) {
            left.add(shown(peer) + ": the name stands for the recording host or a cloud's credentials; a rule with host"
                    + " and upstream: HOST:PORT can lead there");
            return;
        }
        if (address == null && peer.ip() != null) {
            left.add(shown(peer) + ": the record has no address that a rule could name");
            return;
        }
        if (port == DNS_OVER_TLS) {
            left.add(shown(peer) + ": DNS over TLS is always refused");
            return;
        }
        Address reached = address == null || gateway ? address : OwnNetwork.reached(address);
        AddressKind kind = reached == null ? AddressKind.PUBLIC : AddressKind.of(reached);
        if (kind.grant() == AddressKind.Grant.NEVER) {
            left.add(
                    kind == AddressKind.LOOPBACK
                            ? shown(peer) + ": it leads to the recording host's loopback; a rule with host: NAME and"
                                    + " upstream: 127.0.0.1:" + port + " leads there"
                            : shown(peer) + ": " + reached + " " + kind.clause()
                                    + "; a rule with host and upstream: HOST:PORT can lead there");
            return;
        }
        boolean needsAddress = host == null || kind.grant() == AddressKind.Grant.BY_RULE;
        Use use = uses.computeIfAbsent(
                new Destination(host, needsAddress ? String.valueOf(reached) : null), _ -> new Use());
        String exe = flow.exe();
        if (exe == null || !Rule.isProgram(exe)) {
            use.portsOfUnknown.add(port);
        } else {
            use.portsByProgram.computeIfAbsent(exe, _ -> new TreeSet<>()).add(port);
        }
        if (peer.claimed() != null) {
            use.claimed.add(peer.claimed());
        }
        use.count = Counts.sum(use.count, flow.count());
        use.bytesOut = Counts.sum(use.bytesOut, flow.bytesOut());
        use.bytesIn = Counts.sum(use.bytesIn, flow.bytesIn());
    }

    private void add(RecordedName name) {
        String host = name(name.name());
        if (host != null && Set.of("MX", "SRV", "TXT").contains(name.type())) {
            records.computeIfAbsent(host, _ -> new TreeSet<>()).add(name.type());
        } else if (host != null) {
            asked.add(host);
        }
    }

    /// Whether a name is refused whatever rules without an upstream say.
    private static boolean isSpecial(String host) {
        return NOTHING.decide(new Request.Dns(host, "A", null)).rule().startsWith(Decision.BUILTIN);
    }

    private static @Nullable String name(@Nullable String said) {
        try {
            return said == null ? null : HostName.of(said).text();
        } catch (IllegalArgumentException _) {
            return null;
        }
    }

    private static String shown(RecordedFlow.Peer peer) {
        String host = name(peer.host());
        return peer.protocol() + " " + (host == null ? peer.ip() : host)
                + (peer.port() == null ? "" : " port " + peer.port());
    }

    private String text(List<String> names) {
        var text = new StringBuilder("# What these runs did, as a policy: ")
                .append(names.stream().map(PolicySuggestion::plain).collect(Collectors.joining(", ")))
                .append(
                        "\n# Methods and paths are not suggested; `blackbox touched --egress` lists those that a gateway saw. See: blackbox "
                                + "egress check\n")
                .append("version: 1\nmode: enforce\n");
        text.append(uses.isEmpty() ? "# Nothing went out that a policy could allow.\n" : "rules:\n");
        int[] number = {0};
        uses.forEach((destination, use) -> rules(text, destination, use, number));
        dns(text);
        notes(text, "left out", left);
        notes(text, "refused by the gateway; not allowed", List.copyOf(attempts));
        uses.keySet().stream().map(Destination::host).filter(Objects::nonNull).forEach(asked::remove);
        notes(text, "asked for, and never connected to; not allowed", List.copyOf(asked));
        return text.toString();
    }

    private static void notes(StringBuilder text, String heading, List<String> all) {
        List<String> lines = all.stream().distinct().toList();
        if (!lines.isEmpty()) {
            text.append("# ").append(heading).append(":\n");
        }
        lines.stream()
                .limit(ASKED_ONLY_MAX)
                .forEach(line -> text.append("#   ").append(plain(line)).append('\n'));
        if (lines.size() > ASKED_ONLY_MAX) {
            text.append("#   and ").append(lines.size() - ASKED_ONLY_MAX).append(" more\n");
        }
    }

    private void dns(StringBuilder text) {
        if (records.isEmpty()) {
            return;
        }
        if (options.dns()) {
            text.append("dns:\n");
            records.forEach((host, types) -> text.append("  - {host: ")
                    .append(quoted(host))
                    .append(", types: [")
                    .append(String.join(", ", types))
                    .append("]}\n"));
        } else {
            notes(
                    text,
                    "records that were asked for; not allowed (--dns allows them)",
                    records.entrySet().stream()
                            .map(each -> each.getKey() + " " + String.join(", ", each.getValue()))
                            .toList());
        }
    }

    /// One rule, or one for each program with its own ports.
    private void rules(StringBuilder text, Destination destination, Use use, int[] number) {
        text.append("  # connections: %d, octets out: %d, in: %d%n".formatted(use.count, use.bytesOut, use.bytesIn));
        use.claimed.stream()
                .limit(CLAIMED_MAX)
                .forEach(name -> text.append("  # the guest said it was ")
                        .append(plain(name))
                        .append(", which nothing vouches for\n"));
        if (options.programs()) {
            if (!use.portsOfUnknown.isEmpty()) {
                text.append("  # not all programs are known, so any may\n");
                rule(text, destination, use.portsOfUnknown, null, ++number[0]);
            }
            use.portsByProgram.forEach((exe, ports) -> rule(text, destination, ports, exe, ++number[0]));
            return;
        }
        use.portsByProgram.forEach((exe, ports) -> text.append("  # by ")
                .append(plain(exe))
                .append(" on ")
                .append(ports)
                .append('\n'));
        if (!use.portsOfUnknown.isEmpty()) {
            text.append("  # by programs that are not known on ")
                    .append(use.portsOfUnknown)
                    .append('\n');
        }
        rule(text, destination, use.ports(), null, ++number[0]);
    }

    private static void rule(
            StringBuilder text, Destination destination, Set<Integer> ports, @Nullable String exe, int number) {
        text.append("  - id: r").append(number).append('\n');
        if (destination.host() != null) {
            text.append("    host: ").append(quoted(destination.host())).append('\n');
        }
        if (destination.address() != null) {
            text.append("    address: [").append(quoted(destination.address())).append("]\n");
        }
        text.append("    ports: ").append(ports).append('\n');
        if (exe != null) {
            text.append("    process: {exe: ").append(quoted(exe)).append("}\n");
        }
    }

    /// In a double-quoted scalar, what is here has but two characters that need a backslash.
    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /// In a comment.
    private static String plain(String text) {
        return text.codePoints()
                .mapToObj(c -> c < ' ' || c >= 0x7f ? "?" : Character.toString(c))
                .collect(Collectors.joining());
    }
}
