package blackbox.policy.decide;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.policy.Mode;
import blackbox.policy.Policy;
import blackbox.policy.Rule;
import blackbox.policy.Traffic;
import blackbox.policy.decide.Connection.Transport;
import blackbox.policy.host.Address;
import blackbox.policy.text.CanonicalPolicy;
import blackbox.policy.text.PolicyException;
import blackbox.policy.text.PolicyReader;
import blackbox.schemas.Seeded;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/// What holds of every policy and every request, tried with random ones over few names, so that they meet.
class PolicyPropertiesTest {
    private static final int POLICIES = 400;
    private static final int REQUESTS = 40;

    private static final List<String> HOSTS = List.of(
            "a.example", "*.a.example", "**.a.example", "b.a.example", "c.b.a.example", "B.example.", "bücher.example");
    private static final List<String> NAMES = List.of(
            "a.example",
            "b.a.example",
            "c.b.a.example",
            "d.c.b.a.example",
            "B.EXAMPLE",
            "xn--bcher-kva.example",
            "localhost",
            "1.1");
    private static final List<String> PATHS = List.of("/", "/v1", "/v1/*", "/v1/**", "/**", "/*/x", "/v1/a*c", "/%61");
    private static final List<String> TARGETS = List.of(
            "/", "/v1", "/v1/", "/v1/x", "/v1/x/y", "/a/x", "/v1/abc", "/a", "/v1/../a", "/v1%2fx", "/dns-query");
    private static final List<String> METHODS = List.of("GET", "POST", "DELETE");
    private static final List<String> PROGRAMS = List.of("/usr/bin/git", "/usr/bin/curl");
    private static final List<String> RANGES = List.of("10.0.0.0/8", "192.168.1.0/24", "1.2.0.0/16", "fd00::/8");
    private static final List<String> ADDRESSES =
            List.of("1.2.3.4", "8.8.8.8", "10.1.2.3", "192.168.1.9", "127.0.0.1", "fd00::1", "::ffff:10.9.9.9");

    private static <T> T one(RandomGenerator random, List<T> of) {
        return of.get(random.nextInt(of.size()));
    }

    private static String traffic(RandomGenerator random, boolean narrow) {
        var fields = new ArrayList<String>();
        if (random.nextInt(8) == 0) {
            fields.add("address: [\"" + one(random, RANGES) + "\"]");
        } else {
            fields.add("host: \"" + one(random, HOSTS) + "\"");
            if (random.nextInt(6) == 0) {
                fields.add("address: [\"" + one(random, RANGES) + "\", \"" + one(random, RANGES) + "\"]");
            }
        }
        if (random.nextBoolean()) {
            fields.add("ports: [" + one(random, List.of("443", "80, 443", "\"1-1000\"", "22")) + "]");
        }
        if (random.nextInt(3) == 0) {
            fields.add("methods: [" + one(random, METHODS) + ", " + one(random, METHODS) + "]");
        }
        if (random.nextInt(3) == 0) {
            fields.add("paths: [\"" + one(random, PATHS) + "\", \"" + one(random, PATHS) + "\"]");
        }
        if (narrow && random.nextInt(4) == 0) {
            fields.add("process: {exe: " + one(random, PROGRAMS) + "}");
        }
        return String.join(", ", fields);
    }

    private static String text(RandomGenerator random) {
        var text = new StringBuilder("version: 1\nmode: ").append(random.nextInt(4) == 0 ? "observe" : "enforce");
        text.append("\nrules:\n");
        for (int i = 0; i <= random.nextInt(4); i++) {
            text.append("- {id: r")
                    .append(i)
                    .append(", ")
                    .append(traffic(random, true))
                    .append("}\n");
        }
        int denied = random.nextInt(3);
        text.append(denied == 0 ? "" : "deny:\n");
        for (int i = 0; i < denied; i++) {
            text.append("- {").append(traffic(random, false)).append("}\n");
        }
        return text.toString();
    }

    /// A random policy; contradictory ones, which the reader refuses, are passed over.
    private static Policy policy(RandomGenerator random) {
        while (true) {
            try {
                return PolicyReader.read(text(random).getBytes(StandardCharsets.UTF_8));
            } catch (PolicyException e) {
                for (var problem : e.problems()) {
                    if (!problem.what().matches("(?s).*(allows nothing|about the same traffic).*")) {
                        throw new AssertionError(problem.toString(), e);
                    }
                }
            }
        }
    }

    private static Request request(RandomGenerator random) {
        String name = random.nextInt(4) == 0 ? null : one(random, NAMES);
        String exe = random.nextBoolean() ? one(random, PROGRAMS) : null;
        Address address = name == null || random.nextBoolean() ? Address.parse(one(random, ADDRESSES)) : null;
        var connection = new Connection(Transport.TCP, name, address, one(random, List.of(443, 80, 22, 853)), exe);
        var exchange = new Exchange(one(random, METHODS), connection.peer(), one(random, TARGETS), Set.of());
        return switch (random.nextInt(5)) {
            case 0 -> new Request.Dns(name == null ? "a.example" : name, one(random, List.of("A", "AAAA", "TXT")), exe);
            case 1 -> new Request.Connect(connection);
            case 2 -> new Request.Tls(connection, name);
            case 3 -> new Request.WebSocket(connection, null, exchange);
            default -> new Request.Http(connection, null, exchange);
        };
    }

    private static Verdict verdict(Policy policy, Request request) {
        return new Evaluator(policy, List.of()).decide(request).verdict();
    }

    private static Policy with(Policy policy, List<Rule> rules, List<Traffic> deny) {
        return new Policy(
                policy.mode(),
                policy.hold(),
                rules,
                deny,
                policy.pass(),
                policy.dns(),
                policy.secrets(),
                policy.prices());
    }

    @Test
    void theCanonicalFormIsItsOwnAndDecidesAlike() throws Exception {
        RandomGenerator random = Seeded.random("PolicyPropertiesTest.canonical");
        for (int i = 0; i < POLICIES; i++) {
            Policy policy = policy(random);
            byte[] canonical = CanonicalPolicy.octets(policy);
            Policy again = PolicyReader.readCanonical(canonical);
            assertEquals(policy, again);
            assertEquals(CanonicalPolicy.digest(policy), CanonicalPolicy.digest(again));
            for (int j = 0; j < REQUESTS; j++) {
                Request request = request(random);
                assertEquals(
                        new Evaluator(policy, List.of()).decide(request),
                        new Evaluator(again, List.of()).decide(request));
            }
        }
    }

    @Test
    void anEntryOfDenyNeverOpensAnything() {
        RandomGenerator random = Seeded.random("PolicyPropertiesTest.deny");
        for (int i = 0; i < POLICIES; i++) {
            Policy policy = policy(random);
            var deny = new ArrayList<>(policy.deny());
            deny.add(
                    random.nextInt(deny.size() + 1),
                    policy(random).rules().getFirst().traffic());
            Policy stricter = with(policy, policy.rules(), deny);
            for (int j = 0; j < REQUESTS; j++) {
                Request request = request(random);
                if (verdict(policy, request) != Verdict.ALLOW) {
                    assertNotEquals(Verdict.ALLOW, verdict(stricter, request), () -> stricter + " " + request);
                }
            }
        }
    }

    @Test
    void aRuleTakenAwayNeverOpensAnything() {
        RandomGenerator random = Seeded.random("PolicyPropertiesTest.rules");
        for (int i = 0; i < POLICIES; i++) {
            Policy policy = policy(random);
            var rules = new ArrayList<>(policy.rules());
            rules.remove(random.nextInt(rules.size()));
            Policy stricter = with(policy, rules, policy.deny());
            for (int j = 0; j < REQUESTS; j++) {
                Request request = request(random);
                if (verdict(policy, request) != Verdict.ALLOW) {
                    assertNotEquals(Verdict.ALLOW, verdict(stricter, request), () -> stricter + " " + request);
                }
            }
        }
    }

    /// What an early stage refuses, no later one would have allowed: nothing is refused too early.
    @Test
    void whatIsAllowedLaterIsNotRefusedEarlier() {
        RandomGenerator random = Seeded.random("PolicyPropertiesTest.stages");
        int allowed = 0;
        for (int i = 0; i < POLICIES; i++) {
            var evaluator = new Evaluator(policy(random), List.of());
            for (int j = 0; j < REQUESTS; j++) {
                if (request(random) instanceof Request.Http http
                        && evaluator.decide(http).verdict() == Verdict.ALLOW) {
                    allowed++;
                    Connection connection = http.connection();
                    assertEquals(
                            Verdict.ALLOW,
                            evaluator.decide(new Request.Connect(connection)).verdict(),
                            http::toString);
                    if (connection.host() != null) {
                        var dns = new Request.Dns(connection.host(), "A", connection.exe());
                        assertEquals(Verdict.ALLOW, evaluator.decide(dns).verdict(), http::toString);
                    }
                }
            }
        }
        assertNotEquals(0, allowed);
    }

    /// A connection of which nothing has to be asked again is one on which nothing else is refused, but by what
    /// is built in: a gateway that looks no further lets nothing through that should not.
    @Test
    void whatNeedsNothingIsFinal() {
        RandomGenerator random = Seeded.random("PolicyPropertiesTest.final");
        int decided = 0;
        for (int i = 0; i < POLICIES; i++) {
            Policy policy = policy(random);
            var evaluator = new Evaluator(policy, List.of());
            for (int j = 0; j < REQUESTS; j++) {
                if (request(random) instanceof Request.Http http) {
                    Decision early = evaluator.decide(new Request.Connect(http.connection()));
                    Decision late = evaluator.decide(http);
                    if (early.verdict() == Verdict.ALLOW && early.needs().isEmpty()) {
                        decided++;
                        boolean builtin = late.rule().startsWith(Decision.BUILTIN)
                                && !late.rule().equals(Decision.BUILTIN + "path");
                        assertTrue(late.verdict() == Verdict.ALLOW || builtin, () -> policy + " " + http + " " + late);
                    }
                }
            }
        }
        assertNotEquals(0, decided);
    }

    /// What goes out under a policy that observes, beyond what it allows, is what would have been refused.
    @Test
    void observingChangesNoVerdictButItsName() {
        RandomGenerator random = Seeded.random("PolicyPropertiesTest.observe");
        for (int i = 0; i < POLICIES; i++) {
            Policy policy = policy(random);
            Policy enforcing = mode(policy, Mode.ENFORCE);
            Policy observing = mode(policy, Mode.OBSERVE);
            for (int j = 0; j < REQUESTS; j++) {
                Request request = request(random);
                Decision enforced = new Evaluator(enforcing, List.of()).decide(request);
                Decision observed = new Evaluator(observing, List.of()).decide(request);
                assertEquals(enforced.rule(), observed.rule());
                boolean builtin = enforced.rule().startsWith(Decision.BUILTIN);
                assertEquals(
                        enforced.verdict() == Verdict.DENY && !builtin ? Verdict.WOULD_DENY : enforced.verdict(),
                        observed.verdict());
            }
        }
    }

    private static Policy mode(Policy policy, Mode mode) {
        return new Policy(
                mode,
                policy.hold(),
                policy.rules(),
                policy.deny(),
                policy.pass(),
                policy.dns(),
                policy.secrets(),
                policy.prices());
    }
}
