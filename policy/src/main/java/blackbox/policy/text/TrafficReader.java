package blackbox.policy.text;

import blackbox.policy.McpTools;
import blackbox.policy.PathRules;
import blackbox.policy.PathRules.EncodedSlash;
import blackbox.policy.Traffic;
import blackbox.policy.host.Address;
import blackbox.policy.host.AddressKind;
import blackbox.policy.host.AddressRange;
import blackbox.policy.host.HostPattern;
import blackbox.policy.host.PathPattern;
import blackbox.policy.host.Ports;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads the keys that say which traffic a rule, or an entry of `deny`, is about.
final class TrafficReader {

    /// The keys of traffic.
    static final List<String> KEYS = List.of("host", "address", "ports", "methods", "paths", "encodedSlash", "mcp");

    private static final Set<String> NEVER = Set.of("CONNECT", "TRACE");

    /// What a rule's traffic is for.
    enum Purpose {
        ALLOW,
        DENY
    }

    private final Purpose purpose;
    private final Fields fields;

    TrafficReader(Purpose purpose, Fields fields) {
        this.purpose = purpose;
        this.fields = fields;
    }

    /// The traffic; null, and a problem, if it is none.
    @Nullable
    Traffic read() {
        if (fields.has("mcp")) {
            return mcp();
        }
        HostPattern host = fields.value("host", this::host);
        List<AddressRange> addresses = fields.values("address", this::address);
        Ports ports = ports();
        List<String> methods = fields.values("methods", TrafficReader::method);
        PathRules paths = paths();
        if (!fields.has("host") && !fields.has("address")) {
            fields.problem(fields.place(), "a rule says whom it is about: add host, address or mcp");
        }
        if (host == null && addresses.isEmpty() || fields.has("host") && host == null) {
            return null;
        }
        return new Traffic(host, addresses, ports, methods, paths, null);
    }

    private HostPattern host(String text) {
        if (Address.parse(text) != null) {
            throw new IllegalArgumentException("it is an address, not a name; write address: [\"" + text + "\"]");
        }
        HostPattern pattern = HostPattern.parse(text);
        if (purpose == Purpose.ALLOW && pattern.isWide()) {
            throw new IllegalArgumentException(
                    "it allows a whole top-level domain or everything; name the domains that are meant, or record with"
                            + " mode: observe to learn which they are");
        }
        return pattern;
    }

    private AddressRange address(String text) {
        AddressRange range = AddressRange.parse(text);
        if (purpose == Purpose.ALLOW && range.isWide()) {
            throw new IllegalArgumentException(
                    "it is wider than /8 (IPv4) or /7 (IPv6); name the networks that are meant");
        }
        AddressKind kind = AddressKind.of(range.base());
        if (purpose == Purpose.ALLOW && kind.grant() == AddressKind.Grant.NEVER) {
            throw new IllegalArgumentException("it " + kind.clause()
                    + ", which no rule opens; to reach one service there, give a host and upstream: HOST:PORT");
        }
        return range;
    }

    private Ports ports() {
        Ports unsaid = purpose == Purpose.ALLOW ? Ports.HTTPS : Ports.ALL;
        var ranges = new ArrayList<Ports.Range>();
        for (Node item : fields.items("ports")) {
            Ports.Range range = fields.scalar(item, "ports", Ports.Range::parse);
            if (range != null) {
                ranges.add(range);
            }
        }
        return ranges.isEmpty() ? unsaid : Ports.of(ranges);
    }

    private static String method(String text) {
        if (!text.matches("[A-Z][A-Z_-]*")) {
            throw new IllegalArgumentException("methods are written in capitals: " + text.toUpperCase(Locale.ROOT));
        }
        if (NEVER.contains(text)) {
            throw new IllegalArgumentException("it is refused whatever a policy says; leave it out");
        }
        return text;
    }

    private @Nullable PathRules paths() {
        boolean encoded = fields.isTrue("encodedSlash");
        List<PathPattern> patterns = fields.values("paths", text -> {
            PathPattern pattern = PathPattern.parse(text);
            if (pattern.hasEncodedSlash() && !encoded) {
                throw new IllegalArgumentException("it has an encoded slash (%2F); add encodedSlash: true");
            }
            return pattern;
        });
        if (fields.has("encodedSlash") && !fields.has("paths")) {
            fields.problem(
                    fields.place("encodedSlash"), "encodedSlash says how paths are read; add paths, or leave it out");
        }
        return patterns.isEmpty()
                ? null
                : new PathRules(patterns, encoded ? EncodedSlash.CHARACTER : EncodedSlash.REFUSED);
    }

    private @Nullable Traffic mcp() {
        for (String key : KEYS) {
            if (fields.has(key) && !key.equals("mcp")) {
                fields.problem(fields.place(key), "mcp has a url, which says that already; leave out " + key);
            }
        }
        Node node = fields.node("mcp");
        Fields mcp = node == null ? null : fields.inner(node, "mcp", "url", "tools");
        if (mcp == null) {
            return null;
        }
        mcp.require("url", ", the address of the server");
        McpUrl url = mcp.value("url", McpUrl::parse);
        List<String> tools = mcp.values("tools", text -> text);
        if (url == null) {
            return null;
        }
        return url.traffic(new McpTools(url.text(), tools));
    }
}
