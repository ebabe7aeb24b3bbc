package blackbox.query.egress;

import blackbox.policy.Rule;
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

/// Writes the narrowest policy that allows what runs did: exact names, or addresses where no name is known,
/// ports, and programs where all are known. What no policy allows becomes a comment.
public final class PolicySuggestion {

    private static final int ASKED_ONLY_MAX = 50;

    private final Map<Destination, Use> uses = new LinkedHashMap<>();
    private final List<String> left = new ArrayList<>();
    private final Map<String, Set<String>> records = new TreeMap<>();
    private final Set<String> asked = new TreeSet<>();

    /// A name, or an address that no name is known for.
    private record Destination(
            @Nullable String host, @Nullable String address) {}

    private static final class Use {
        final Set<Integer> ports = new TreeSet<>();
        final Set<String> programs = new TreeSet<>();
        final Set<String> addresses = new TreeSet<>();
        boolean needsAddress;
        boolean unknownProgram;
        long count;
        long bytesOut;
        long bytesIn;
    }

    private PolicySuggestion() {}

    /// A policy as YAML, for the runs together.
    ///
    /// @param names what the runs are called, for its first comment
    public static String of(List<RecordedEgress> runs, List<String> names) {
        var suggestion = new PolicySuggestion();
        for (RecordedEgress run : runs) {
            run.flows().forEach(suggestion::add);
            run.names().forEach(suggestion::add);
        }
        return suggestion.text(names);
    }

    private void add(RecordedFlow flow) {
        RecordedFlow.Peer peer = flow.peer();
        Address address = Address.parse(peer.ip());
        Integer port = peer.port();
        if (!peer.protocol().equals("tcp") || address == null || port == null || port < 1 || port > Ports.PORT_MAX) {
            if (port == null || port != 53) {
                left.add(shown(peer) + ": only TCP can be allowed");
            }
            return;
        }
        AddressKind kind = AddressKind.of(address);
        if (kind.grant() == AddressKind.Grant.NEVER) {
            left.add(shown(peer) + ": " + address + " " + kind.clause()
                    + "; a rule with host and upstream: HOST:PORT can lead there");
            return;
        }
        String host = name(peer.host());
        if (peer.host() != null && host == null) {
            left.add(shown(peer) + ": the name that was asked for is no host name, and so it is always refused");
            return;
        }
        if (port == 853) {
            left.add(shown(peer) + ": DNS over TLS is always refused");
            return;
        }
        Use use = uses.computeIfAbsent(new Destination(host, host == null ? address.toString() : null), _ -> new Use());
        use.ports.add(port);
        use.addresses.add(address.toString());
        use.needsAddress |= host == null || kind.grant() == AddressKind.Grant.BY_RULE;
        String exe = flow.exe();
        if (exe == null || !Rule.isProgram(exe)) {
            use.unknownProgram = true;
        } else {
            use.programs.add(exe);
        }
        use.count += flow.count();
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

    private static @Nullable String name(@Nullable String said) {
        try {
            return said == null ? null : HostName.of(said).text();
        } catch (IllegalArgumentException _) {
            return null;
        }
    }

    private static String shown(RecordedFlow.Peer peer) {
        String host = name(peer.host());
        return peer.protocol() + " " + (host == null ? peer.ip() : host) + " port " + peer.port();
    }

    private String text(List<String> names) {
        var text = new StringBuilder("# What these runs did, as a policy: ")
                .append(names.stream().map(PolicySuggestion::plain).collect(Collectors.joining(", ")))
                .append("\n# Methods and paths are not recorded; add them where they are known. See: blackbox "
                        + "egress check\n")
                .append("version: 1\nmode: enforce\n");
        text.append(uses.isEmpty() ? "# Nothing went out that a policy could allow.\n" : "rules:\n");
        int[] number = {0};
        uses.forEach((destination, use) -> rules(text, destination, use, number));
        if (!records.isEmpty()) {
            text.append("dns:\n");
        }
        records.forEach((host, types) -> text.append("  - {host: ")
                .append(quoted(host))
                .append(", types: [")
                .append(String.join(", ", types))
                .append("]}\n"));
        notes(text, "left out", left);
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

    /// One rule, or one for each program.
    private static void rules(StringBuilder text, Destination destination, Use use, int[] number) {
        text.append("  # connections: %d, octets out: %d, in: %d%s%n"
                .formatted(
                        use.count,
                        use.bytesOut,
                        use.bytesIn,
                        use.unknownProgram ? "; not all programs are known, so any may" : ""));
        List<String> programs = use.unknownProgram ? List.of() : List.copyOf(use.programs);
        if (programs.isEmpty()) {
            rule(text, destination, use, null, ++number[0]);
        }
        programs.forEach(exe -> rule(text, destination, use, exe, ++number[0]));
    }

    private static void rule(StringBuilder text, Destination destination, Use use, @Nullable String exe, int number) {
        text.append("  - id: r").append(number).append('\n');
        if (destination.host() != null) {
            text.append("    host: ").append(quoted(destination.host())).append('\n');
        }
        if (use.needsAddress) {
            text.append("    address: [")
                    .append(use.addresses.stream().map(PolicySuggestion::quoted).collect(Collectors.joining(", ")))
                    .append("]\n");
        }
        text.append("    ports: ").append(use.ports).append('\n');
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
