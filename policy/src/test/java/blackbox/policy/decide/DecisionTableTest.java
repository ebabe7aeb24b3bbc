package blackbox.policy.decide;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.policy.Policy;
import blackbox.policy.decide.Connection.Transport;
import blackbox.policy.host.Address;
import blackbox.policy.text.CanonicalPolicy;
import blackbox.policy.text.PolicyReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// The table of decisions, `decisions.tsv`, which says how to read it.
class DecisionTableTest {
    private static final int CASES_MIN = 200;
    private static final Pattern ESCAPED = Pattern.compile("\\\\u\\{([0-9a-f]+)}");
    private static final Set<String> WORDS = Set.of(
            "host",
            "address",
            "port",
            "exe",
            "udp",
            "sni",
            "method",
            "authority",
            "path",
            "media",
            "tool",
            "rpc",
            "type");

    /// The recording host's own addresses in all cases.
    private static final List<Address> OWN = List.of(address("203.0.113.77"), address("2606:4700::77"));

    private record Case(int line, String policy, String stage, String known, String verdict, String rule) {
        static Case parse(int line, String text) {
            String[] fields = text.split("\t", -1);
            assertEquals(5, fields.length, () -> "line " + line + " has other fields than five");
            return new Case(line, fields[0], fields[1], fields[2], fields[3], fields[4]);
        }

        Map<String, String> facts() {
            var facts = new HashMap<String, String>();
            for (String word : known.split(" ", -1)) {
                String[] parts = word.split("=", 2);
                assertTrue(WORDS.contains(parts[0]), () -> "line " + line + " says " + parts[0]);
                facts.put(
                        parts[0],
                        ESCAPED.matcher(parts.length < 2 ? "" : parts[1])
                                .replaceAll(each -> Matcher.quoteReplacement(
                                        Character.toString(Integer.parseInt(each.group(1), 16)))));
            }
            return facts;
        }
    }

    private static Address address(String text) {
        return Objects.requireNonNull(Address.parse(text), text);
    }

    static byte[] resource(String name) throws IOException {
        try (var in = DecisionTableTest.class.getResourceAsStream("/blackbox/policy/decisions/" + name)) {
            return Objects.requireNonNull(in, name).readAllBytes();
        }
    }

    static Policy policy(String name) throws Exception {
        return PolicyReader.read(resource(name + ".yaml"));
    }

    private static List<Case> cases() throws IOException {
        List<String> lines = new String(resource("decisions.tsv"), StandardCharsets.UTF_8)
                .lines()
                .toList();
        return Stream.iterate(0, line -> line + 1)
                .limit(lines.size())
                .filter(line -> !lines.get(line).startsWith("#"))
                .map(line -> Case.parse(line + 1, lines.get(line)))
                .toList();
    }

    static Request request(String stage, Map<String, String> facts) {
        String host = facts.get("host");
        String said = facts.get("address");
        Address address = said == null ? null : address(said);
        if (stage.equals("dns")) {
            return new Request.Dns(Objects.requireNonNull(host), facts.getOrDefault("type", "A"), facts.get("exe"));
        }
        var connection = new Connection(
                facts.containsKey("udp") ? Transport.UDP : Transport.TCP,
                host,
                address,
                Integer.parseInt(facts.getOrDefault("port", "443")),
                facts.get("exe"));
        String sni = facts.get("sni");
        var exchange = new Exchange(
                facts.getOrDefault("method", "GET"),
                facts.getOrDefault("authority", connection.peer()),
                facts.getOrDefault("path", "/"),
                facts.containsKey("media") ? Set.of(facts.get("media")) : Set.of());
        return switch (stage) {
            case "connect" -> new Request.Connect(connection);
            case "tls" -> new Request.Tls(connection, sni);
            case "http" -> new Request.Http(connection, sni, exchange);
            case "ws" -> new Request.WebSocket(connection, sni, exchange);
            case "mcp" ->
                new Request.Mcp(
                        connection,
                        sni,
                        exchange,
                        facts.getOrDefault("rpc", facts.containsKey("tool") ? Request.Mcp.CALL : "ping"),
                        facts.get("tool"));
            default -> throw new IllegalArgumentException(stage);
        };
    }

    private static String said(Decision decision) {
        String needs = decision.needs().stream()
                .map(need -> need.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(","));
        return decision.verdict().word() + (needs.isEmpty() ? "" : "+" + needs) + " " + decision.rule();
    }

    @TestFactory
    Stream<DynamicTest> decisions() throws IOException {
        return cases().stream()
                .map(each -> DynamicTest.dynamicTest(each.line() + ": " + each.stage() + " " + each.known(), () -> {
                    Policy policy = policy(each.policy());
                    Request request = request(each.stage(), each.facts());
                    Decision decision = new Evaluator(policy, OWN).decide(request);
                    assertEquals(each.verdict() + " " + each.rule(), said(decision), decision::reason);
                    assertEquals(each.stage(), decision.stage().word());
                    assertFalse(decision.reason().isBlank());
                    assertTrue(decision.reason().chars().allMatch(c -> c >= ' '), "a reason has a control character");
                    // Whoever has only what was sealed decides alike.
                    Policy sealed = PolicyReader.readCanonical(CanonicalPolicy.octets(policy));
                    assertEquals(decision, new Evaluator(sealed, OWN).decide(request));
                }));
    }

    /// What the gateway needs of a rule that has decided.
    @Test
    void aDecisionLeadsToItsRule() throws Exception {
        var evaluator = new Evaluator(policy("agent"), OWN);
        Decision local = evaluator.decide(request("connect", Map.of("host", "model.test")));
        assertEquals(
                "127.0.0.1:8443",
                String.valueOf(Objects.requireNonNull(evaluator.rule(local)).upstream()));
        Decision plain = evaluator.decide(request("connect", Map.of("host", "pinned.example")));
        assertNull(Objects.requireNonNull(evaluator.rule(plain)).upstream());
        assertNull(evaluator.rule(evaluator.decide(request("connect", Map.of("host", "evil.example")))));
    }

    @Test
    void thereAreEnoughOfBoth() throws IOException {
        List<Case> cases = cases();
        assertTrue(cases.size() >= CASES_MIN, () -> "only " + cases.size() + " cases");
        long allowed = cases.stream()
                .filter(each -> each.verdict().startsWith("allow"))
                .count();
        assertTrue(allowed >= 60 && cases.size() - allowed >= 100, () -> allowed + " of " + cases.size() + " allow");
        assertEquals(
                cases.size(),
                cases.stream()
                        .map(each -> each.policy() + each.stage() + each.known())
                        .distinct()
                        .count());
    }
}
