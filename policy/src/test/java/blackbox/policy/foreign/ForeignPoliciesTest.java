package blackbox.policy.foreign;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.policy.Policy;
import blackbox.policy.decide.Connection;
import blackbox.policy.decide.Connection.Transport;
import blackbox.policy.decide.Evaluator;
import blackbox.policy.decide.Request;
import blackbox.policy.host.Address;
import blackbox.policy.text.PolicyReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Lists of sandbox-runtime and of masterblaster allow and deny the same as policies.
class ForeignPoliciesTest {

    /// The shape of the settings that its README shows.
    private static final String SETTINGS = """
            {
            \t"network": {
            \t\t"allowedDomains": ["github.com", "*.packages.example", "API.example.com:443", "[2606:4700::1]:8443",
            \t\t\t"github.com"],
            \t\t"deniedDomains": ["malicious.packages.example", "*:22"],
            \t\t"allowLocalBinding": false
            \t},
            \t"filesystem": {"denyRead": ["~/.ssh"]}
            }
            """;

    /// As `mb init` writes it, with the list uncommented.
    private static final String JCARD = """
            mixtape = "base:latest"

            [network]
            mode = "nat"
            egress_allow = ["api.anthropic.com", "10.20.0.0/16"]

            [[agents]]
            harness = "claude-code"
            """;

    private static byte[] octets(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String verdict(Policy policy, String host, int port) {
        Address literal = Address.parse(host);
        Address address = literal == null ? Address.parse("1.2.3.4") : literal;
        var connection = new Connection(Transport.TCP, literal == null ? host : null, address, port, null);
        return new Evaluator(policy, List.of())
                .decide(new Request.Connect(connection))
                .verdict()
                .word();
    }

    private static void verdicts(Policy policy, Map<String, String> expected) {
        expected.forEach((peer, verdict) -> {
            int at = peer.lastIndexOf(' ');
            assertEquals(
                    verdict, verdict(policy, peer.substring(0, at), Integer.parseInt(peer.substring(at + 1))), peer);
        });
    }

    @Test
    void settingsOfSandboxRuntimeBecomeAPolicy() throws Exception {
        byte[] settings = octets(SETTINGS);
        assertEquals(Origin.SANDBOX_RUNTIME, ForeignPolicies.origin(settings));
        String text = ForeignPolicies.policy(settings, Origin.SANDBOX_RUNTIME);
        assertTrue(text.contains("network.allowLocalBinding has no counterpart"), text);
        Policy policy = PolicyReader.read(octets(text));
        assertEquals(4, policy.rules().size());
        verdicts(
                policy,
                Map.ofEntries(
                        Map.entry("github.com 443", "allow"),
                        Map.entry("github.com 9418", "allow"),
                        Map.entry("github.com 22", "deny"),
                        Map.entry("api.github.com 443", "deny"),
                        Map.entry("registry.packages.example 443", "allow"),
                        Map.entry("a.b.packages.example 443", "allow"),
                        Map.entry("packages.example 443", "deny"),
                        Map.entry("malicious.packages.example 443", "deny"),
                        Map.entry("api.example.com 443", "allow"),
                        Map.entry("api.example.com 80", "deny"),
                        Map.entry("2606:4700::1 8443", "allow"),
                        Map.entry("2606:4700::1 443", "deny")));
    }

    @Test
    void aJcardsListBecomesAPolicy() throws Exception {
        byte[] card = octets(JCARD);
        assertEquals(Origin.JCARD, ForeignPolicies.origin(card));
        Policy policy = PolicyReader.read(octets(ForeignPolicies.policy(card, Origin.JCARD)));
        verdicts(
                policy,
                Map.of(
                        "api.anthropic.com 443", "allow",
                        "api.anthropic.com 80", "allow",
                        "x.api.anthropic.com 443", "deny",
                        "10.20.1.1 5432", "allow",
                        "10.21.1.1 5432", "deny"));
        String none = "[network]\nmode = \"none\"\negress_allow = [\"a.example\"]\n";
        assertEquals(
                List.of(),
                PolicyReader.read(octets(ForeignPolicies.policy(octets(none), Origin.JCARD)))
                        .rules());
    }

    private static void refused(String text, Origin origin, String why) {
        var refused =
                assertThrows(IllegalArgumentException.class, () -> ForeignPolicies.policy(octets(text), origin), text);
        assertTrue(String.valueOf(refused.getMessage()).contains(why), refused::getMessage);
    }

    @Test
    void whatAPolicyCannotSayIsRefused() {
        Origin srt = Origin.SANDBOX_RUNTIME;
        refused("{\"network\": {\"allowedDomains\": [\"*.com\"]}}", srt, "a whole top-level domain");
        refused("{\"network\": {\"allowedDomains\": [\"*\"]}}", srt, "a whole top-level domain or everything");
        refused("{\"network\": {\"allowedDomains\": [\"a*.example.com\"]}}", srt, "a wildcard stands only");
        refused("{\"network\": {\"allowedDomains\": [\"https://a.example\"]}}", srt, "it has no port after");
        refused("{\"network\": {\"allowedDomains\": [\"a.example:0\"]}}", srt, "ports are from 1");
        refused("{\"network\": {\"allowedDomains\": [\"::1\"]}}", srt, "in brackets");
        refused("{\"network\": {\"allowedDomains\": [\"[::1]\"]}}", srt, "loopback address");
        refused(
                "{\"network\": {\"allowedDomains\": [\"a.example\\n- b\"]}}",
                srt,
                "a character that names do not have");
        refused("{\"network\": {\"allowedDomains\": [1]}}", srt, "is no text");
        refused("{\"network\": {\"allowedDomains\": \"a.example\"}}", srt, "is no list");
        refused("{\"network\": {}}", srt, "no network.allowedDomains");
        refused("{\"network\": {\"allowedDomains\": [],\n", srt, "line 2 is no JSON");
        refused("{\"network\": {\"allowedDomains\": [], \"allowedDomains\": []}}", srt, "is no JSON");
        refused(
                "{\"network\": {\"allowedDomains\": [\"a.example\"], \"deniedDomains\": [\"*\"]}}",
                srt,
                "deny[0] refuses all of it");
        refused("[network]\negress_allow = []\n", Origin.JCARD, "which there means no limits");
        refused("mixtape = \"a\"\n", Origin.JCARD, "which there means no limits");
        refused("[network]\negress_allow = [\"*.example.com\"]\n", Origin.JCARD, "what a wildcard means");
        refused("[network]\negress_allow = [\"0.0.0.0/0\"]\n", Origin.JCARD, "wider than /8");
        refused("[network\n", Origin.JCARD, "line 1 is no TOML");
        assertThrows(IllegalArgumentException.class, () -> ForeignPolicies.origin(octets("{ no")));
    }
}
