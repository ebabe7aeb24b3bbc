package blackbox.node.egress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.Inspection;
import blackbox.gateway.egress.Outcome;
import blackbox.gateway.egress.Passage;
import blackbox.gateway.egress.Protocol;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.Verdict;
import blackbox.policy.Policy;
import blackbox.policy.host.Address;
import blackbox.policy.text.PolicyException;
import blackbox.policy.text.PolicyReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What a policy says of the addresses that an allowed name turns out to have: a name's owner chooses them, at any
/// time.
final class PolicyAuthorityTest {

    private static final Set<Address> OWN = Set.of(Objects.requireNonNull(Address.parse("10.1.2.3")));

    private static final String POLICY = """
            version: 1
            rules:
              - {id: any, host: "**.example.org"}
              - {id: pin, host: pin.example.net, address: [93.184.216.0/24]}
              - {id: corp, host: "*.corp.example", address: [10.0.0.0/8, 100.64.0.0/10, "fc00::/7"]}
              - {id: literal, address: [10.0.0.0/8]}
              - {id: model, host: model.test, upstream: "proxy.partner.example:8443"}
            deny:
              - {address: [8.8.8.0/24]}
            """;

    private static final HostPort PROXY = new HostPort("proxy.partner.example", 8443);

    private static Policy policy(String text) throws PolicyException {
        return PolicyReader.read(text.getBytes(StandardCharsets.UTF_8));
    }

    private static PolicyAuthority authority(Policy policy, Supplier<Set<Address>> own) {
        return new PolicyAuthority(policy, own, new Budgets(policy, () -> 0));
    }

    @ParameterizedTest
    @CsvSource({
        "x.example.org, 93.184.216.34, ALLOW, any",
        "x.example.org, 8.8.8.8, DENY, deny[0]",
        "x.example.org, 10.9.9.9, DENY, builtin:private",
        "x.example.org, 127.0.0.1, DENY, builtin:loopback",
        "x.example.org, 169.254.169.254, DENY, builtin:metadata",
        "x.example.org, 64:ff9b::a9fe:a9fe, DENY, builtin:metadata",
        "pin.example.net, 93.184.216.9, ALLOW, pin",
        "pin.example.net, 1.1.1.1, DENY, default",
        "db.corp.example, 10.9.9.9, ALLOW, corp",
        "db.corp.example, 10.1.2.3, DENY, builtin:own",
        "db.corp.example, 100.100.100.200, DENY, builtin:metadata",
        "db.corp.example, fd00:ec2::254, DENY, builtin:metadata",
        "db.corp.example, 1.1.1.1, DENY, default",
        ", 10.9.9.9, ALLOW, literal",
        ", 10.1.2.3, DENY, builtin:own",
        "model.test, 127.0.0.1, ALLOW, model",
        "model.test, 10.1.2.3, ALLOW, model",
        "model.test, 93.184.216.34, ALLOW, model",
        "model.test, 169.254.169.254, DENY, builtin:metadata",
        "model.test, 169.254.1.1, DENY, builtin:link-local",
        "model.test, 8.8.8.8, DENY, deny[0]",
    })
    void eachAddressIsJudged(String host, String address, String outcome, String rule) throws Exception {
        var authority = authority(policy(POLICY), () -> OWN);
        var destination = new Destination(host, host == null ? address : "198.18.0.7", 443, Protocol.TCP);
        HostPort upstream = host != null && host.equals("model.test") ? PROXY : null;
        Verdict verdict = authority.address(destination, address, upstream);
        assertEquals(outcome + " " + rule, verdict.outcome() + " " + verdict.rule(), verdict::reason);
    }

    private static final String PROGRAMS = """
            version: 1
            rules:
              - {id: fetch, host: git.example, methods: [GET], process: {exe: /usr/bin/git}}
              - {id: all, host: open.example}
              - {id: push, host: open.example, methods: [POST], process: {exe: /usr/bin/git}}
              - {id: here, host: model.test, process: {exe: /usr/bin/node}, upstream: "127.0.0.1:8080"}
              - {id: other, host: other.example}
              - {id: denied, host: "*.denied.example", process: {exe: /usr/bin/git}}
              - {id: metadata, host: metadata.google.internal, process: {exe: /usr/bin/git}}
            deny: [{host: a.denied.example}]
            """;

    @ParameterizedTest
    @CsvSource({
        "git.example, 443, true",
        "git.example, 22, false",
        "open.example, 443, true",
        "model.test, 443, true",
        "other.example, 443, false",
        "nothing.example, 443, false",
        "a.denied.example, 443, false",
        "b.denied.example, 443, true",
        "metadata.google.internal, 443, false",
    })
    void onlyWhereARuleIsForOneIsAProgramAskedFor(String host, int port, boolean asked) throws Exception {
        var authority = authority(policy(PROGRAMS), Set::of);
        assertEquals(asked, authority.asksProgram(new Destination(host, "198.18.0.7", port, Protocol.TCP)));
    }

    @ParameterizedTest
    @CsvSource({
        "git.example, /usr/bin/git, ALLOW, fetch",
        "git.example, /usr/bin/git2, DENY, default",
        "git.example, , DENY, default",
        "open.example, , ALLOW, all",
        "model.test, /usr/bin/node, ALLOW, here",
        "model.test, , DENY, default",
    })
    void aRuleForAProgramIsForThatOneFromTheConnectionOn(String host, String exe, String outcome, String rule)
            throws Exception {
        var authority = authority(policy(PROGRAMS), Set::of);
        Destination destination = new Destination(host, "198.18.0.7", 443, Protocol.TCP).wantedBy(exe);
        Verdict connect = authority.connect(destination).toCompletableFuture().join();
        Verdict tls = authority.tls(destination, host).toCompletableFuture().join();
        HostPort upstream = host.equals("model.test") ? new HostPort("127.0.0.1", 8080) : null;
        String address = host.equals("model.test") ? "127.0.0.1" : "93.184.216.34";
        var head = new RequestHead("GET", host, "/", Set.of(), false);
        Verdict request = authority
                .request(destination.at(address, upstream), host, head)
                .toCompletableFuture()
                .join()
                .verdict();
        for (Verdict each : List.of(connect, tls, request)) {
            assertEquals(outcome + " " + rule, each.outcome() + " " + each.rule(), each::reason);
        }
        if (host.equals("git.example") && !connect.allowed()) {
            String why = exe == null ? ", and the program is not known" : ", not " + exe;
            assertEquals("rule fetch allows git.example only for /usr/bin/git" + why, connect.reason());
        }
    }

    private static final String REQUESTS = """
            version: 1
            rules:
              - {id: api, host: api.example, methods: [GET], paths: ["/v1/**"]}
              - {id: open, host: open.example}
              - {id: tools, mcp: {url: "https://mcp.example/mcp", tools: [search]}}
              - {id: pinned, host: pinned.example}
            tls: {pass: [pinned.example]}
            """;

    @ParameterizedTest
    @CsvSource({
        "api.example, REQUESTS",
        "open.example, OPEN",
        "pinned.example, SEALED",
        "mcp.example, REQUESTS",
    })
    void howFarIsLookedFollowsFromThePolicy(String host, Inspection how) throws Exception {
        var authority = authority(policy(REQUESTS), Set::of);
        var destination = new Destination(host, "198.18.0.7", 443, Protocol.TCP);
        Verdict connect = authority.connect(destination).toCompletableFuture().join();
        assertTrue(connect.allowed());
        assertEquals(how, connect.inspection());
        Verdict tls = authority.tls(destination, host).toCompletableFuture().join();
        assertTrue(tls.allowed());
        assertEquals(how, tls.inspection());
        Verdict other = authority
                .tls(destination, "other.example")
                .toCompletableFuture()
                .join();
        assertEquals("builtin:misdirected", other.rule());
    }

    @Test
    void observingRefusesNothingForBeingNoHttp() throws Exception {
        String text = REQUESTS.replace("version: 1", "version: 1\nmode: observe");
        var authority = authority(policy(text), Set::of);
        var destination = new Destination("api.example", "198.18.0.7", 443, Protocol.TCP);
        Verdict connect = authority.connect(destination).toCompletableFuture().join();
        assertEquals(Inspection.OPEN, connect.inspection());
    }

    /// Or it could say a secret again in what is not searched.
    @Test
    void observingRefusesWhatIsNoHttpToAHostThatIsToldASecret() throws Exception {
        var authority = authority(policy("""
                version: 1
                mode: observe
                rules:
                  - {id: model, host: "*.model.example", paths: ["/v1"], secret: key}
                  - {id: at, address: [192.0.2.0/24], secret: key}
                  - {id: open, host: open.example}
                """), Set::of);
        for (var each : Map.of(
                        "api.model.example", Inspection.REQUESTS,
                        "open.example", Inspection.OPEN,
                        "unknown.example", Inspection.OPEN)
                .entrySet()) {
            for (int port : List.of(443, 22)) {
                var destination = new Destination(each.getKey(), "198.18.0.7", port, Protocol.TCP);
                Verdict connect =
                        authority.connect(destination).toCompletableFuture().join();
                assertTrue(connect.allowed());
                assertEquals(each.getValue(), connect.inspection(), destination::text);
                assertEquals(
                        each.getValue(),
                        authority.address(destination, "93.184.216.34", null).inspection());
            }
        }
        var address = new Destination(null, "192.0.2.7", 443, Protocol.TCP);
        assertEquals(
                Inspection.REQUESTS,
                authority.connect(address).toCompletableFuture().join().inspection());
    }

    /// One rule has an upstream on this host, and another of the same name has none: whoever owns the name does not
    /// come here with it.
    @Test
    void anUpstreamIsOneRulesAlone() throws Exception {
        var authority = authority(policy("""
                version: 1
                rules:
                  - {id: local, host: api.example, paths: ["/local"], upstream: "127.0.0.1:8443"}
                  - {id: rest, host: api.example}
                """), () -> OWN);
        var destination = new Destination("api.example", "198.18.0.7", 443, Protocol.TCP);
        var local = new HostPort("127.0.0.1", 8443);
        assertTrue(authority.address(destination, "127.0.0.1", local).allowed());
        assertEquals(
                "builtin:loopback",
                authority.address(destination, "127.0.0.1", null).rule());
        assertEquals(
                "builtin:own", authority.address(destination, "10.1.2.3", null).rule());
        assertEquals(
                "rest", authority.address(destination, "93.184.216.34", null).rule());
        assertFalse(authority
                .address(destination, "127.0.0.1", new HostPort("127.0.0.1", 22))
                .allowed());
        var here = destination.at("127.0.0.1", local);
        var there = destination.at("93.184.216.34", null);
        for (Destination from : List.of(here, there)) {
            assertEquals("ALLOW local " + local, requested(authority, from, "/local"));
            assertEquals("ALLOW rest null", requested(authority, from, "/other"));
        }
        // As it is asked again where its rule leads.
        assertEquals("DENY builtin:loopback null", requested(authority, destination.at("127.0.0.1", null), "/other"));
    }

    private static String requested(PolicyAuthority authority, Destination destination, String target) {
        var head = new RequestHead("GET", "api.example", target, Set.of(), false);
        Verdict verdict = authority
                .request(destination, "api.example", head)
                .toCompletableFuture()
                .join()
                .verdict();
        return verdict.outcome() + " " + verdict.rule() + " " + verdict.upstream();
    }

    @ParameterizedTest
    @CsvSource({
        "api.example, GET, api.example, /v1/a, ALLOW, api, /v1/a, 403",
        "api.example, GET, api.example:443, /v1/%7ea?q=%7e, ALLOW, api, /v1/~a?q=%7e, 403",
        "api.example, POST, api.example, /v1/a, DENY, default, /v1/a, 403",
        "api.example, GET, other.example, /v1/a, DENY, builtin:misdirected, /v1/a, 421",
        "api.example, GET, api.example, /v1/../x, DENY, builtin:path, /v1/../x, 403",
        "api.example, GET, api.example, /dns-query, DENY, builtin:doh, /dns-query, 403",
        "open.example, GET, open.example, /./dns-query?dns=AAAB, DENY, builtin:doh, /./dns-query?dns=AAAB, 403",
        "open.example, GET, open.example, //%64ns-query, DENY, builtin:doh, //%64ns-query, 403",
        "open.example, TRACE, open.example, /, DENY, builtin:method, /, 403",
        "open.example, GET, open.example, http://other.example/, DENY, builtin:target, http://other.example/, 403",
        "open.example, GET, open.example, /a/../b, ALLOW, open, /a/../b, 403",
        "mcp.example, POST, mcp.example, /mcp, ALLOW, tools, /mcp, 403",
    })
    void eachRequestIsJudged(
            String host,
            String method,
            String authority,
            String target,
            String outcome,
            String rule,
            String forwarded,
            int status)
            throws Exception {
        var asked = authority(policy(REQUESTS), Set::of);
        var destination = new Destination(host, "198.18.0.7", 443, Protocol.TCP);
        RequestVerdict verdict = asked.request(
                        destination.at("93.184.216.34", null),
                        host,
                        new RequestHead(method, authority, target, Set.of(), false))
                .toCompletableFuture()
                .join();
        assertEquals(
                outcome + " " + rule,
                verdict.verdict().outcome() + " " + verdict.verdict().rule());
        assertEquals(forwarded, verdict.target());
        assertEquals(status, verdict.status());
        boolean tools = verdict.verdict().allowed() && rule.equals("tools");
        assertEquals(
                tools ? Passage.Hold.ALL : Passage.Hold.NOTHING,
                verdict.passage().holds(),
                "messages are judged");
    }

    /// Also while its connection leads elsewhere; and what a rule allows that leads elsewhere does not go along.
    @Test
    void messagesAreJudgedByRulesThatLeadWhereTheirRequestGoes() throws Exception {
        var authority = authority(policy("""
                version: 1
                rules:
                  - {id: search, mcp: {url: "https://mcp.example/mcp", tools: [search]}, upstream: "proxy.partner.example:8443"}
                  - {id: fetch, mcp: {url: "https://mcp.example/mcp", tools: [fetch]}}
                """), Set::of);
        var destination = new Destination("mcp.example", "198.18.0.7", 443, Protocol.TCP);
        var head = new RequestHead("POST", "mcp.example", "/mcp", Set.of(), false, "application/json", null);
        for (Destination from :
                List.of(destination.at("93.184.216.34", null), destination.at("93.184.216.40", PROXY))) {
            for (String tool : List.of("search", "fetch")) {
                RequestVerdict verdict = authority
                        .request(from, "mcp.example", head)
                        .toCompletableFuture()
                        .join();
                assertEquals("search", verdict.verdict().rule());
                assertEquals(PROXY, verdict.verdict().upstream());
                Passage passage = verdict.passage();
                assertEquals(Passage.Hold.ALL, passage.holds());
                String body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" + tool
                        + "\"}}";
                assertNull(passage.body(ByteBuffer.wrap(body.getBytes(StandardCharsets.UTF_8))));
                assertEquals(
                        tool.equals("fetch"),
                        Objects.requireNonNull(passage.whole()).stops(),
                        tool);
            }
        }
    }

    /// What is said over a WebSocket could not be judged by tools.
    @Test
    void noWebSocketToToolsAndOnlyHttpWhereTokensCount() throws Exception {
        var authority = authority(policy(REQUESTS), Set::of);
        var destination = new Destination("mcp.example", "198.18.0.7", 443, Protocol.TCP, "93.184.216.34", null, null);
        var head = new RequestHead("GET", "mcp.example", "/mcp", Set.of(), true);
        assertFalse(authority
                .request(destination, "mcp.example", head)
                .toCompletableFuture()
                .join()
                .verdict()
                .allowed());
        var counted = authority(policy("""
                version: 1
                rules:
                  - {id: tokens, host: tokens.example, budget: {tokens: 1M}}
                  - {id: octets, host: octets.example, budget: {bytesOut: 1MB}}
                """), Set::of);
        assertEquals(Inspection.REQUESTS, inspection(counted, "tokens.example"));
        assertEquals(Inspection.OPEN, inspection(counted, "octets.example"));
    }

    private static final String ADDRESSED = """
            version: 1
            rules:
              - {id: corp, host: "*.corp.example", address: [172.16.0.0/12]}
              - {id: internal, host: api.example, address: [172.16.0.0/12]}
              - {id: public, host: api.example, methods: [GET], paths: ["/ro/**"]}
            deny:
              - {address: [172.17.0.0/16], methods: [POST]}
            """;

    /// A request is judged by where its connection has led, however the name resolves.
    @ParameterizedTest
    @CsvSource({
        "db.corp.example, 172.17.2.9, GET, /x, ALLOW, corp",
        "db.corp.example, 172.17.2.9, POST, /x, DENY, deny[0]",
        "db.corp.example, 172.20.2.9, POST, /x, ALLOW, corp",
        "api.example, 172.20.2.9, POST, /admin, ALLOW, internal",
        "api.example, 93.184.216.34, GET, /ro/a, ALLOW, public",
        "api.example, 93.184.216.34, POST, /admin, DENY, default",
    })
    void aRequestIsJudgedByTheAddressReached(
            String host, String address, String method, String target, String outcome, String rule) throws Exception {
        var authority = authority(policy(ADDRESSED), Set::of);
        var destination = new Destination(host, "198.18.0.7", 443, Protocol.TCP);
        var head = new RequestHead(method, host, target, Set.of(), false);
        Verdict verdict = authority
                .request(destination.at(address, null), host, head)
                .toCompletableFuture()
                .join()
                .verdict();
        assertEquals(outcome + " " + rule, verdict.outcome() + " " + verdict.rule(), verdict::reason);
    }

    @Test
    void theAddressMayAskToLookFurther() throws Exception {
        var authority = authority(policy(ADDRESSED), Set::of);
        var destination = new Destination("api.example", "198.18.0.7", 443, Protocol.TCP);
        assertEquals(
                Inspection.REQUESTS,
                authority.address(destination, "93.184.216.34", null).inspection());
        assertEquals(
                Inspection.OPEN,
                authority.address(destination, "172.20.2.9", null).inspection());
    }

    @Test
    void whatMustBeLookedIntoIsNotSealed() throws Exception {
        var authority = authority(policy("""
                version: 1
                rules: [{id: pinned, host: pinned.example}]
                deny: [{address: [8.8.8.0/24], methods: [POST]}]
                tls: {pass: [pinned.example]}
                """), Set::of);
        var destination = new Destination("pinned.example", "198.18.0.7", 443, Protocol.TCP);
        assertEquals(
                Outcome.DENY, authority.address(destination, "8.8.8.8", null).outcome());
        assertTrue(authority.address(destination, "93.184.216.34", null).allowed());
    }

    @Test
    void aVerdictHasTheUpstream() throws Exception {
        var authority = authority(policy(POLICY), () -> OWN);
        Verdict verdict = authority
                .connect(new Destination("model.test", "198.18.0.7", 443, Protocol.TCP))
                .toCompletableFuture()
                .join();
        assertTrue(verdict.allowed());
        assertEquals(
                "proxy.partner.example",
                Objects.requireNonNull(verdict.upstream()).host());
    }

    /// Observing gives nothing away that enforcing would not.
    @Test
    void aSecretGoesWithWhatItsRuleAllowsAndNothingElse() throws Exception {
        for (String mode : List.of("enforce", "observe")) {
            var authority = authority(policy("""
                    version: 1
                    mode: %s
                    rules:
                      - {id: read, host: model.example, methods: [GET]}
                      - {id: ask, host: model.example, methods: [POST], paths: ["/v1/*"], secret: key}
                    """.formatted(mode)), Set::of);
            assertEquals("key", secret(authority, "POST", "/v1/messages"));
            assertNull(secret(authority, "GET", "/v1/messages"));
            assertNull(secret(authority, "POST", "/v2/messages"));
        }
    }

    @Test
    void whatAHostSaysThatIsToldASecretIsHttp() throws Exception {
        Policy policy = policy("""
                version: 1
                rules:
                  - {id: free, host: free.example}
                  - {id: both, host: "*.model.example"}
                  - {id: key, host: eu.model.example, ports: [8443], secret: key}
                  - {id: literal, address: [192.0.2.0/24], secret: key}
                """);
        var authority = authority(policy, Set::of);
        assertEquals(Inspection.OPEN, inspection(authority, "free.example"));
        assertEquals(Inspection.OPEN, inspection(authority, "us.model.example"));
        assertEquals(Inspection.REQUESTS, inspection(authority, "eu.model.example"));
        assertTrue(GatewayPolicy.tells(policy, "192.0.2.9"));
        assertFalse(GatewayPolicy.tells(policy, "192.0.3.9"));
    }

    private static Inspection inspection(PolicyAuthority authority, String host) {
        return authority
                .connect(new Destination(host, "198.18.0.7", 443, Protocol.TCP))
                .toCompletableFuture()
                .join()
                .inspection();
    }

    private static @Nullable String secret(PolicyAuthority authority, String method, String target) {
        var destination =
                new Destination("model.example", "198.18.0.7", 443, Protocol.TCP, "93.184.216.34", null, null);
        var head = new RequestHead(method, "model.example", target, Set.of(), false);
        return authority
                .request(destination, "model.example", head)
                .toCompletableFuture()
                .join()
                .verdict()
                .secret();
    }

    @Test
    void noUpstreamIsWhereCredentialsAre() {
        assertThrows(PolicyException.class, () -> policy("""
                version: 1
                rules:
                  - {id: a, host: model.test, upstream: "metadata.google.internal:80"}
                """));
    }
}
