package blackbox.policy.decide;

import blackbox.policy.McpTools;
import blackbox.policy.PathRules;
import blackbox.policy.Rule;
import blackbox.policy.Traffic;
import blackbox.policy.host.AddressKind;
import blackbox.policy.host.AddressRange;
import blackbox.policy.host.HostPattern;
import blackbox.policy.host.Ports;
import blackbox.policy.host.RequestPath;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Compares rules with what is known of one request. What is not known yet may still fit; a program that is not
/// known once there is a connection does not.
final class Matcher {

    private static final int HOST = 0;
    private static final int ADDRESS = 1;
    private static final int PORT = 2;
    private static final int PROGRAM = 3;
    private static final int METHOD = 4;
    private static final int PATH = 5;
    private static final int TOOL = 6;

    private final Facts facts;
    private final AddressKind kind;

    /// @param kind of the peer
    Matcher(Facts facts, AddressKind kind) {
        this.facts = facts;
        this.kind = kind;
    }

    /// Whether a rule allows it.
    Fit allow(Rule rule) {
        Traffic traffic = rule.traffic();
        Set<Need> needs = EnumSet.noneOf(Need.class);
        Fit.No no = host(traffic);
        if (no == null) {
            no = address(rule, needs);
        }
        if (no == null) {
            no = port(traffic.ports(), needs);
        }
        if (no == null) {
            no = program(rule.exe());
        }
        return no != null ? no : request(traffic, needs, this::allows);
    }

    /// Whether an entry of `deny` refuses it.
    Fit deny(Traffic traffic) {
        HostPattern host = traffic.host();
        if (host != null && (facts.host() == null || !host.matches(facts.host()))) {
            return new Fit.No(HOST, "");
        }
        Set<Need> needs = EnumSet.noneOf(Need.class);
        if (!traffic.addresses().isEmpty()) {
            if (facts.address() == null) {
                needs.add(Need.ADDRESS);
            } else if (!facts.address().isIn(traffic.addresses())) {
                return new Fit.No(ADDRESS, "");
            }
        }
        Fit.No no = traffic.ports().equals(Ports.ALL) ? null : port(traffic.ports(), needs);
        return no != null ? no : request(traffic, needs, this::refuses);
    }

    private Fit.@Nullable No host(Traffic traffic) {
        HostPattern host = traffic.host();
        boolean fits = host == null ? facts.host() == null : facts.host() != null && host.matches(facts.host());
        return fits ? null : new Fit.No(HOST, traffic.destination());
    }

    /// A public address needs no more than the rule's name for it; others must be named, or stand behind an
    /// upstream.
    private Fit.@Nullable No address(Rule rule, Set<Need> needs) {
        List<AddressRange> ranges = rule.traffic().addresses();
        if (rule.upstream() != null) {
            if (facts.address() == null) {
                needs.add(Need.ADDRESS);
                return null;
            }
            return kind.mayBeUpstream()
                    ? null
                    : new Fit.No(ADDRESS, rule.traffic().destination() + " elsewhere");
        }
        if (facts.address() == null && kind != AddressKind.PUBLIC) {
            return new Fit.No(ADDRESS, rule.traffic().destination());
        }
        if (facts.address() == null) {
            needs.add(Need.ADDRESS);
            return null;
        }
        boolean named = facts.address().isIn(ranges);
        boolean fits = switch (kind.grant()) {
            case NOT_NEEDED -> named || ranges.isEmpty();
            case BY_RULE -> named;
            case NEVER -> false;
        };
        return fits
                ? null
                : new Fit.No(
                        ADDRESS,
                        rule.traffic().destination() + " only at "
                                + (ranges.isEmpty()
                                        ? "public addresses"
                                        : ranges.stream()
                                                .map(AddressRange::toString)
                                                .collect(Collectors.joining(", "))));
    }

    private Fit.@Nullable No port(Ports ports, Set<Need> needs) {
        if (facts.port() == null) {
            needs.add(Need.CONNECTION);
            return null;
        }
        return ports.contains(facts.port()) ? null : new Fit.No(PORT, facts.peer() + " only on " + ports);
    }

    private Fit.@Nullable No program(@Nullable String exe) {
        boolean fits = exe == null || exe.equals(facts.exe()) || facts.exe() == null && facts.stage() == Stage.DNS;
        return fits
                ? null
                : new Fit.No(
                        PROGRAM,
                        facts.peer() + " only for " + exe
                                + (facts.exe() == null ? ", and the program is not known" : ", not " + facts.exe()));
    }

    /// @param tools whether they are what a message calls
    private Fit request(Traffic traffic, Set<Need> needs, Predicate<List<String>> tools) {
        if (!traffic.needsRequest()) {
            return needs.isEmpty() ? new Fit.Yes() : new Fit.Maybe(needs);
        }
        if (!facts.hasRequest()) {
            needs.add(Need.REQUEST);
            return new Fit.Maybe(needs);
        }
        if (!traffic.methods().isEmpty() && !traffic.methods().contains(facts.method())) {
            return new Fit.No(METHOD, facts.peer() + " only with " + String.join(", ", traffic.methods()));
        }
        PathRules paths = traffic.paths();
        RequestPath path = facts.path();
        if (paths != null && path != null) {
            String unsafe = paths.whyUnsafe(path);
            if (unsafe != null) {
                return new Fit.UnsafePath(unsafe);
            }
            if (path instanceof RequestPath.Clean clean && !paths.matches(clean)) {
                return new Fit.No(
                        PATH,
                        facts.peer() + " only at "
                                + paths.patterns().stream()
                                        .map(Object::toString)
                                        .collect(Collectors.joining(", ")));
            }
        }
        return tool(traffic.mcp(), needs, tools);
    }

    /// Whether a message calls one of these tools, or nothing that could stand for one.
    private boolean allows(List<String> tools) {
        String method = facts.rpcMethod();
        return Request.Mcp.CALL.equals(method)
                ? facts.tool() != null && tools.contains(facts.tool())
                : method == null || McpTools.isUpkeep(method);
    }

    /// Whether it calls one of these tools, or does not say which.
    private boolean refuses(List<String> tools) {
        return Request.Mcp.CALL.equals(facts.rpcMethod()) && (facts.tool() == null || tools.contains(facts.tool()));
    }

    private Fit tool(@Nullable McpTools mcp, Set<Need> needs, Predicate<List<String>> tools) {
        if (mcp != null && !mcp.tools().isEmpty()) {
            if (facts.stage() != Stage.MCP) {
                needs.add(Need.TOOL);
            } else if (!tools.test(mcp.tools())) {
                return new Fit.No(TOOL, "of the tools at " + mcp.url() + " only " + String.join(", ", mcp.tools()));
            }
        }
        return needs.isEmpty() ? new Fit.Yes() : new Fit.Maybe(needs);
    }
}
