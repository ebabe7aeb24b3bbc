package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.policy.Policy;
import blackbox.policy.decide.Connection;
import blackbox.policy.decide.Connection.Transport;
import blackbox.policy.decide.Decision;
import blackbox.policy.decide.Evaluator;
import blackbox.policy.decide.Exchange;
import blackbox.policy.decide.Request;
import blackbox.policy.decide.Verdict;
import blackbox.policy.foreign.ForeignPolicies;
import blackbox.policy.foreign.Origin;
import blackbox.policy.host.Address;
import blackbox.policy.text.CanonicalPolicy;
import blackbox.policy.text.PolicyException;
import blackbox.policy.text.PolicyReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/// Egress policies from elsewhere, and what a guest asks of one.
final class PolicyTargets {
    private static final String RULES = """
            version: 1
            rules:
              - {id: exact, host: a.example, methods: [GET], paths: ["/v1/*/x", "/**/y"]}
              - {id: wild, host: "**.b.example", ports: [443, 80]}
            deny: [{host: "*.b.example", paths: ["/admin/**"]}]
            """;

    /// With every key.
    private static final String WHOLE = """
            version: 1
            mode: observe # or enforce
            hold: connect
            rules:
              - id: model
                host: 'bücher.example'
                ports: [443, "8000-8010"]
                methods: [POST]
                paths: ["/v1/*", /@a%2fb]
                encodedSlash: true
                secret: s
                budget: {requests: 5k, bytesIn: 1MiB, bytesOut: 2MB, seconds: 2h, tokens: 3M, usd: 0.5}
              - {id: git, host: "**.example.org", process: {exe: /usr/bin/git}}
              - {id: lan, address: [10.0.0.0/8, "fd00::1"], ports: [5432]}
              - {id: mcp, mcp: {url: "https://m.example:8443/mcp", tools: [a]}}
              - {id: up, host: up.example, upstream: "[::1]:80"}
            deny: [{host: "**", ports: [25]}, {host: a.example.org, methods: [PUT]}]
            dns: [{host: x.example, types: [TXT, MX, SRV]}]
            tls: {pass: ["*.pinned.example"]}
            secrets: [{id: s, command: [pass, show], place: "body:/a/b"}]
            """;

    private static final Address PUBLIC = address("1.2.3.4");

    private PolicyTargets() {}

    static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of(
                        "egress-policy",
                        8 << 10,
                        PolicyTargets::policy,
                        PolicyTargets::policies,
                        PolicyException.class),
                FuzzTarget.of("egress-request", 1 << 10, PolicyTargets::request, PolicyTargets::requests),
                FuzzTarget.of(
                        "foreign-policy",
                        4 << 10,
                        PolicyTargets::foreign,
                        PolicyTargets::lists,
                        IllegalArgumentException.class));
    }

    private static Address address(String text) {
        Address address = Address.parse(text);
        if (address == null) {
            throw new AssertionError(text + " is no address");
        }
        return address;
    }

    private static boolean policy(byte[] octets) throws PolicyException {
        Policy policy = PolicyReader.read(octets);
        Policy again = PolicyReader.readCanonical(CanonicalPolicy.octets(policy));
        ensure(again.equals(policy), "a policy means something else after it was written");
        var evaluator = new Evaluator(policy, List.of());
        for (String said : List.of("127.0.0.1", "169.254.169.254", "::ffff:127.0.0.1")) {
            var connection = new Connection(Transport.TCP, null, address(said), 443, null);
            ensure(!evaluator.decide(new Request.Connect(connection)).goesOn(), "a policy opens " + said);
        }
        return true;
    }

    private static Map<String, byte[]> policies() throws PolicyException {
        byte[] whole = utf8(WHOLE);
        return Map.of(
                "yaml", whole,
                "json", CanonicalPolicy.octets(PolicyReader.read(whole)),
                "traffic", utf8(RULES));
    }

    /// A host, a method, an authority and a target, a line each.
    private static boolean request(byte[] octets) throws PolicyException {
        String[] lines = new String(octets, StandardCharsets.ISO_8859_1).split("\n", 4);
        if (lines.length < 4) {
            return false;
        }
        var evaluator = new Evaluator(PolicyReader.read(RULES.getBytes(StandardCharsets.UTF_8)), List.of());
        var connection = new Connection(Transport.TCP, lines[0], PUBLIC, 443, null);
        var exchange = new Exchange(lines[1], lines[2], lines[3], Set.of());
        Decision decision = evaluator.decide(new Request.Http(connection, null, exchange));
        ensure(decision.reason().chars().allMatch(c -> c >= ' '), "a reason has a control character");
        if (decision.verdict() != Verdict.ALLOW) {
            return false;
        }
        String host = lines[0].toLowerCase(Locale.ROOT);
        String name = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
        ensure(name.equals("a.example") || name.endsWith(".b.example"), "another host is allowed: " + name);
        if (name.equals("a.example")) {
            ensure(lines[1].equals("GET"), "another method is allowed");
            String path = lines[3].split("\\?", 2)[0];
            ensure(
                    !path.contains("/../") && !path.contains("\\") && !path.contains("//"),
                    "a path that has two readings");
        }
        return evaluator.decide(new Request.Connect(connection)).verdict() == Verdict.ALLOW;
    }

    private static Map<String, byte[]> requests() {
        return Map.of(
                "exact", utf8("a.example\nGET\na.example\n/v1/q/x"),
                "wild", utf8("x.y.b.example.\nPOST\nX.Y.b.example:443\n/?a=/../b"));
    }

    private static boolean foreign(byte[] octets) throws PolicyException {
        Origin origin = ForeignPolicies.origin(octets);
        String text = ForeignPolicies.policy(octets, origin);
        Policy policy = PolicyReader.read(utf8(text));
        ensure(policy.secrets().isEmpty() && policy.pass().isEmpty(), "a list became more than a list");
        return true;
    }

    private static Map<String, byte[]> lists() {
        return Map.of(
                "settings",
                utf8("{\"network\": {\"allowedDomains\": [\"*.a.example\", \"b.example:443\"], "
                        + "\"deniedDomains\": [\"*:22\"]}}"),
                "jcard",
                utf8("[network]\nmode = \"nat\"\negress_allow = [\"a.example\", \"10.0.0.0/8\"]\n"));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
