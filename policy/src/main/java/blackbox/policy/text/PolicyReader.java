package blackbox.policy.text;

import blackbox.policy.DnsRule;
import blackbox.policy.Hold;
import blackbox.policy.Mode;
import blackbox.policy.Policy;
import blackbox.policy.Rule;
import blackbox.policy.Secret;
import blackbox.policy.Traffic;
import blackbox.policy.Upstream;
import blackbox.policy.budget.Budget;
import blackbox.policy.budget.Limit;
import blackbox.policy.budget.Price;
import blackbox.policy.decide.Builtins;
import blackbox.policy.host.Address;
import blackbox.policy.host.AddressKind;
import blackbox.policy.host.HostName;
import blackbox.policy.host.HostPattern;
import blackbox.policy.host.Ports;
import blackbox.policy.text.TrafficReader.Purpose;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads a policy (`schemas/policy.md`), as people write it or in its canonical form, which is YAML too.
public final class PolicyReader {

    /// The longest policy that people may write.
    public static final int OCTETS_MAX = 1 << 20;

    /// The longest canonical form: with its defaults a policy is longer than what was written.
    private static final int CANONICAL_OCTETS_MAX = 4 << 20;

    private static final String ID = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}";

    private static final List<String> RULE_KEYS = Stream.of(
                    List.of("id"), TrafficReader.KEYS, List.of("process", "secret", "budget", "upstream"))
            .flatMap(List::stream)
            .toList();

    private static final Map<String, String> NOT_IN_DENY = Map.of(
            "process",
            "whose act traffic is, is the guest's word: it can narrow what a rule allows, but a guest would lie "
                    + "its way out of a denial; leave it out",
            "id",
            "entries of deny are named by their place: deny[0]; leave it out");

    private final List<Problem> problems = new ArrayList<>();

    private PolicyReader() {}

    /// Reads a policy as people write it.
    ///
    /// @throws PolicyException with all that is wrong
    public static Policy read(byte[] octets) throws PolicyException {
        return read(octets, OCTETS_MAX);
    }

    /// Reads the canonical form of a policy.
    ///
    /// @throws PolicyException when it is not the canonical form of any
    public static Policy readCanonical(byte[] octets) throws PolicyException {
        Policy policy = read(octets, CANONICAL_OCTETS_MAX);
        if (!Arrays.equals(CanonicalPolicy.octets(policy), octets)) {
            throw new PolicyException(
                    List.of(new Problem(new Place(1, 1), "this is a policy, but not written in the canonical form")));
        }
        return policy;
    }

    private static Policy read(byte[] octets, int octetsMax) throws PolicyException {
        var reader = new PolicyReader();
        Policy policy = reader.policy(new YamlReader(octetsMax).read(octets));
        if (policy == null || !reader.problems.isEmpty()) {
            reader.problems.sort(
                    Comparator.comparingInt((Problem each) -> each.place().line())
                            .thenComparingInt(each -> each.place().column()));
            throw new PolicyException(reader.problems);
        }
        return policy;
    }

    private @Nullable Policy policy(Node root) {
        Fields top = Fields.of(
                root,
                "a policy",
                problems,
                "version",
                "mode",
                "hold",
                "rules",
                "deny",
                "tls",
                "dns",
                "secrets",
                "prices");
        if (top == null) {
            return null;
        }
        version(top);
        Mode mode = top.value("mode", PolicyReader::mode);
        Hold hold = top.value("hold", PolicyReader::hold);
        var places = new PolicyChecks.Places();
        List<Rule> rules = each(top, "rules", places.rules(), this::rule);
        List<Traffic> deny = each(top, "deny", places.deny(), this::denied);
        List<HostPattern> pass = pass(top);
        List<DnsRule> dns = each(top, "dns", new ArrayList<>(), this::dns);
        List<Secret> secrets = each(top, "secrets", places.secrets(), node -> SecretReader.read(node, problems));
        List<Price> prices = each(top, "prices", places.prices(), node -> PriceReader.read(node, problems));
        var policy = new Policy(
                mode == null ? Mode.ENFORCE : mode,
                hold == null ? Hold.NOTHING : hold,
                rules,
                deny,
                pass,
                dns,
                secrets,
                prices);
        // What follows compares entries with one another, so it needs them all.
        if (problems.isEmpty()) {
            new PolicyChecks(policy, rules, secrets, prices, places, problems).check();
        }
        return policy;
    }

    private void version(Fields top) {
        top.require("version", "; begin with version: " + Policy.VERSION);
        Node node = top.node("version");
        if (node != null
                && !(node instanceof Node.Scalar scalar
                        && scalar.isNumber()
                        && scalar.text().equals("1"))) {
            top.problem(
                    node.place(), "this version of Blackbox reads version: " + Policy.VERSION + ", not " + node.kind());
        }
    }

    private static Mode mode(String text) {
        return switch (text) {
            case "enforce" -> Mode.ENFORCE;
            case "observe" -> Mode.OBSERVE;
            default -> throw new IllegalArgumentException("it is enforce or observe");
        };
    }

    private static Hold hold(String text) {
        if (!text.equals("connect")) {
            throw new IllegalArgumentException("it is connect; leave it out to hold nothing");
        }
        return Hold.CONNECT;
    }

    /// Reads each item of a list and notes where those are that could be read.
    private static <T> List<T> each(Fields top, String key, List<Place> places, Function<Node, @Nullable T> reader) {
        var values = new ArrayList<T>();
        for (Node item : top.items(key)) {
            T value = reader.apply(item);
            if (value != null) {
                values.add(value);
                places.add(item.place());
            }
        }
        return values;
    }

    private @Nullable Rule rule(Node node) {
        Fields fields = Fields.of(node, "a rule", problems, Map.of(), RULE_KEYS);
        if (fields == null) {
            return null;
        }
        fields.require("id", ", by which decisions name it");
        String id = fields.value("id", PolicyReader::id);
        Traffic traffic = new TrafficReader(Purpose.ALLOW, fields).read();
        String exe = exe(fields);
        String secret = fields.value("secret", PolicyReader::id);
        Budget budget = budget(fields);
        Upstream upstream = fields.value("upstream", PolicyReader::upstream);
        if (upstream != null && fields.has("address")) {
            fields.problem(
                    fields.place("upstream"), "upstream is what is dialled, so address has no effect; leave one out");
        }
        if (upstream != null && !fields.has("host") && !fields.has("mcp")) {
            fields.problem(
                    fields.place("upstream"), "upstream stands for a name; add the host that the guest asks for");
        }
        return id == null || traffic == null ? null : new Rule(id, traffic, exe, secret, budget, upstream);
    }

    static String id(String text) {
        if (!text.matches(ID)) {
            throw new IllegalArgumentException("an id has 1 to 64 letters, digits, dots, - or _");
        }
        if (text.equals("default")) {
            throw new IllegalArgumentException("decisions that follow from no rule are named so; choose another id");
        }
        return text;
    }

    private static @Nullable String exe(Fields rule) {
        Node node = rule.node("process");
        Fields process = node == null ? null : rule.inner(node, "process", "exe");
        if (process == null) {
            return null;
        }
        process.require("exe", ", the program's path");
        return process.value("exe", text -> {
            if (!Rule.isProgram(text)) {
                throw new IllegalArgumentException("it is the absolute path of a program, in ASCII, without . and ..");
            }
            return text;
        });
    }

    private static @Nullable Budget budget(Fields rule) {
        Node node = rule.node("budget");
        String[] keys = Arrays.stream(Limit.values()).map(Limit::key).toArray(String[]::new);
        Fields fields = node == null ? null : rule.inner(node, "budget", keys);
        if (fields == null) {
            return null;
        }
        Map<Limit, Long> limits = new EnumMap<>(Limit.class);
        for (Limit limit : Limit.values()) {
            Node amount = fields.node(limit.key());
            Long read = amount == null ? null : fields.scalar(amount, limit.key(), text -> Amounts.read(limit, text));
            if (read != null) {
                limits.put(limit, read);
            }
        }
        if (Arrays.stream(keys).noneMatch(fields::has)) {
            fields.problem(fields.place(), "a budget limits something: " + String.join(", ", keys));
        }
        return limits.isEmpty() ? null : new Budget(limits);
    }

    private static Upstream upstream(String text) {
        int colon = text.lastIndexOf(':');
        if (colon < 1) {
            throw new IllegalArgumentException("write HOST:PORT");
        }
        String host = text.substring(0, colon);
        Ports.Range port = Ports.Range.parse(text.substring(colon + 1));
        if (port.first() != port.last()) {
            throw new IllegalArgumentException("write HOST:PORT, with one port");
        }
        Address address = Address.parse(host);
        if (address == null) {
            HostName name = HostName.ofUnicode(host);
            if (!Builtins.kind(name).mayBeUpstream()) {
                throw new IllegalArgumentException("it is where a cloud serves its machines' credentials");
            }
            return new Upstream(name.text(), port.first());
        }
        if (host.contains(":") && !host.startsWith("[")) {
            throw new IllegalArgumentException("write an IPv6 address in brackets: [ADDRESS]:PORT");
        }
        AddressKind kind = AddressKind.of(address);
        if (!kind.mayBeUpstream()) {
            throw new IllegalArgumentException("it " + kind.clause() + ", which nothing opens");
        }
        return new Upstream(address.toString(), port.first());
    }

    private @Nullable Traffic denied(Node node) {
        Fields fields = Fields.of(node, "an entry of deny", problems, NOT_IN_DENY, TrafficReader.KEYS);
        return fields == null ? null : new TrafficReader(Purpose.DENY, fields).read();
    }

    private List<HostPattern> pass(Fields top) {
        Node node = top.node("tls");
        Fields tls = node == null ? null : top.inner(node, "tls", "pass");
        if (tls == null) {
            return List.of();
        }
        tls.require("pass", ", the names whose TLS is not opened");
        return tls.values("pass", text -> {
            HostPattern pattern = HostPattern.parse(text);
            if (pattern.isWide()) {
                throw new IllegalArgumentException("it leaves a whole top-level domain, or everything, unseen");
            }
            return pattern;
        });
    }

    private @Nullable DnsRule dns(Node node) {
        Fields fields = Fields.of(node, "an entry of dns", problems, "host", "types");
        if (fields == null) {
            return null;
        }
        fields.require("host", "");
        fields.require("types", ": " + String.join(", ", DnsRule.TYPES));
        HostPattern host = fields.value("host", text -> {
            HostPattern pattern = HostPattern.parse(text);
            if (pattern.isWide()) {
                throw new IllegalArgumentException("it lets anything be asked under a whole top-level domain");
            }
            return pattern;
        });
        List<String> types = fields.values("types", text -> {
            if (!DnsRule.TYPES.contains(text)) {
                throw new IllegalArgumentException("types are " + String.join(", ", DnsRule.TYPES)
                        + "; addresses need no entry: rules say which names have them");
            }
            return text;
        });
        return host == null || types.isEmpty() ? null : new DnsRule(host, types);
    }
}
