package blackbox.policy.text;

import blackbox.policy.DnsRule;
import blackbox.policy.Hold;
import blackbox.policy.McpTools;
import blackbox.policy.Mode;
import blackbox.policy.PathRules;
import blackbox.policy.PathRules.EncodedSlash;
import blackbox.policy.Policy;
import blackbox.policy.Rule;
import blackbox.policy.Secret;
import blackbox.policy.SecretSource;
import blackbox.policy.Traffic;
import blackbox.policy.budget.Budget;
import blackbox.policy.budget.Limit;
import blackbox.policy.budget.Price;
import blackbox.policy.host.AddressRange;
import blackbox.policy.host.HostPattern;
import blackbox.policy.host.PathPattern;
import blackbox.policy.host.Ports;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/// The canonical form of a policy: its normalised content as RFC 8785 writes JSON (`schemas/policy.md`). Two
/// texts that mean the same have the same canonical form, and [PolicyReader] reads it like any other policy.
public final class CanonicalPolicy {

    private CanonicalPolicy() {}

    /// The text, without a line feed at its end.
    public static String text(Policy policy) {
        Map<String, Object> top = new HashMap<>();
        top.put("version", Policy.VERSION);
        top.put("mode", policy.mode() == Mode.ENFORCE ? "enforce" : "observe");
        if (policy.hold() == Hold.CONNECT) {
            top.put("hold", "connect");
        }
        put(top, "rules", policy.rules().stream().map(CanonicalPolicy::rule).toList());
        put(top, "deny", policy.deny().stream().map(CanonicalPolicy::traffic).toList());
        put(top, "dns", policy.dns().stream().map(CanonicalPolicy::dns).toList());
        put(
                top,
                "secrets",
                policy.secrets().stream().map(CanonicalPolicy::secret).toList());
        put(top, "prices", policy.prices().stream().map(CanonicalPolicy::price).toList());
        if (!policy.pass().isEmpty()) {
            top.put("tls", Map.of("pass", texts(policy.pass())));
        }
        return CanonicalJson.write(top);
    }

    /// The text in UTF-8.
    public static byte[] octets(Policy policy) {
        return text(policy).getBytes(StandardCharsets.UTF_8);
    }

    /// `sha256:` and the SHA-256 of [#octets] in lower-case hexadecimal digits.
    public static String digest(Policy policy) {
        try {
            return "sha256:"
                    + HexFormat.of()
                            .formatHex(MessageDigest.getInstance("SHA-256").digest(octets(policy)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static void put(Map<String, Object> object, String key, List<?> list) {
        if (!list.isEmpty()) {
            object.put(key, list);
        }
    }

    private static List<String> texts(List<?> values) {
        return values.stream().map(Object::toString).toList();
    }

    private static Map<String, Object> rule(Rule rule) {
        Map<String, Object> object = traffic(rule.traffic());
        object.put("id", rule.id());
        if (rule.exe() != null) {
            object.put("process", Map.of("exe", rule.exe()));
        }
        if (rule.secret() != null) {
            object.put("secret", rule.secret());
        }
        if (rule.budget() != null) {
            object.put("budget", budget(rule.budget()));
        }
        if (rule.upstream() != null) {
            object.put("upstream", rule.upstream().toString());
        }
        return object;
    }

    private static Map<String, Object> traffic(Traffic traffic) {
        Map<String, Object> object = new HashMap<>();
        McpTools mcp = traffic.mcp();
        if (mcp != null) {
            Map<String, Object> server = new HashMap<>();
            server.put("url", mcp.url());
            put(server, "tools", mcp.tools());
            object.put("mcp", server);
            return object;
        }
        HostPattern host = traffic.host();
        if (host != null) {
            object.put("host", host.toString());
        }
        put(
                object,
                "address",
                traffic.addresses().stream().map(AddressRange::toString).toList());
        put(
                object,
                "ports",
                traffic.ports().ranges().stream().map(CanonicalPolicy::port).toList());
        put(object, "methods", traffic.methods());
        PathRules paths = traffic.paths();
        if (paths != null) {
            put(
                    object,
                    "paths",
                    paths.patterns().stream().map(PathPattern::text).toList());
            if (paths.encodedSlash() == EncodedSlash.CHARACTER) {
                object.put("encodedSlash", true);
            }
        }
        return object;
    }

    private static Object port(Ports.Range range) {
        return range.first() == range.last() ? (Object) range.first() : range.toString();
    }

    private static Map<String, Object> budget(Budget budget) {
        Map<String, Object> object = new HashMap<>();
        budget.limits().forEach((limit, amount) -> object.put(limit.key(), amount(limit, amount)));
        return object;
    }

    private static Object amount(Limit limit, long amount) {
        return limit == Limit.USD ? dollars(amount) : (Object) amount;
    }

    /// A text, because fractions are not numbers that every reader of JSON reads exactly.
    private static String dollars(long micros) {
        return BigDecimal.valueOf(micros, 6).stripTrailingZeros().toPlainString();
    }

    private static Map<String, Object> price(Price price) {
        Map<String, Object> object = new HashMap<>();
        object.put("model", price.model());
        object.put("input", dollars(price.input()));
        object.put("output", dollars(price.output()));
        if (price.cached() != null) {
            object.put("cached", dollars(price.cached()));
        }
        if (price.cacheWrite() != null) {
            object.put("cacheWrite", dollars(price.cacheWrite()));
        }
        return object;
    }

    private static Map<String, Object> dns(DnsRule rule) {
        return Map.of("host", rule.host().toString(), "types", rule.types());
    }

    private static Map<String, Object> secret(Secret secret) {
        Map<String, Object> object = new HashMap<>();
        object.put("id", secret.id());
        if (secret.place() != null) {
            object.put("place", secret.place());
        }
        switch (secret.source()) {
            case null -> {}
            case SecretSource.File file -> object.put("file", file.path());
            case SecretSource.Variable variable -> object.put("env", variable.name());
            case SecretSource.Command command -> object.put("command", command.argv());
        }
        return object;
    }
}
