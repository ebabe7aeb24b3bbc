package blackbox.policy.decide;

import blackbox.policy.DnsRule;
import blackbox.policy.Mode;
import blackbox.policy.Policy;
import blackbox.policy.Rule;
import blackbox.policy.host.Address;
import blackbox.policy.host.AddressKind;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Says what a policy makes of requests. What is built in comes first, then `deny`, then any rule that allows;
/// nothing else goes through. The same request gets the same answer, here and wherever the record is checked.
///
/// Immutable, so any thread may use it.
public final class Evaluator {

    private final Policy policy;
    private final Set<Address> own;

    /// @param own the addresses of the recording host's interfaces
    public Evaluator(Policy policy, Collection<Address> own) {
        this.policy = policy;
        this.own = Set.copyOf(own);
    }

    /// What the policy says of a request.
    public Decision decide(Request request) {
        Decision refused = Builtins.refusal(request);
        if (refused != null) {
            return refused;
        }
        Facts facts = Facts.of(request);
        if (request instanceof Request.Dns dns && !Builtins.ADDRESS_TYPES.contains(dns.type())) {
            return records(dns, facts);
        }
        return new Question(request, facts, kind(facts)).answer();
    }

    /// Whether what is decided on a connection, or on a request over it, may depend on its program: some rule
    /// is for one that could connect.
    public boolean asksProgram(Connection connection) {
        return policy.rules().stream().anyMatch(rule -> rule.exe() != null && isFor(rule, connection.by(rule.exe())));
    }

    private boolean isFor(Rule rule, Connection connection) {
        var request = new Request.Connect(connection);
        if (decide(request).verdict() == Verdict.DENY) {
            return false; // whoever asks
        }
        Facts facts = Facts.of(request);
        return !(new Matcher(facts, kind(facts)).allow(rule) instanceof Fit.No);
    }

    /// The rule that a decision names, with its budget, secret and upstream; null if it names none.
    public @Nullable Rule rule(Decision decision) {
        for (Rule rule : policy.rules()) {
            if (rule.id().equals(decision.rule())) {
                return rule;
            }
        }
        return null;
    }

    private AddressKind kind(Facts facts) {
        AddressKind byName = facts.host() == null ? AddressKind.PUBLIC : Builtins.kind(facts.host());
        Address address = facts.address();
        if (address == null) {
            return byName;
        }
        AddressKind byAddress = own.contains(address) ? AddressKind.OWN : AddressKind.of(address);
        return byName.compareTo(byAddress) >= 0 ? byName : byAddress;
    }

    /// Records beside addresses.
    private Decision records(Request.Dns dns, Facts facts) {
        if (!DnsRule.TYPES.contains(dns.type())) {
            return Builtins.deny(dns, "dns-type", "records of type " + dns.type() + " are refused");
        }
        var question = new Question(dns, facts, kind(facts));
        Decision denied = question.denied(EnumSet.noneOf(Need.class));
        if (denied != null) {
            return denied;
        }
        for (int i = 0; i < policy.dns().size(); i++) {
            DnsRule rule = policy.dns().get(i);
            if (facts.host() != null
                    && rule.host().matches(facts.host())
                    && rule.types().contains(dns.type())) {
                return question.allow("dns[" + i + "]", "dns[" + i + "] allows " + dns.type() + " records", Set.of());
            }
        }
        return question.refuse(
                Decision.DEFAULT, "no entry of dns allows " + dns.type() + " records of " + facts.peer());
    }

    /// One request while it is judged.
    private final class Question {
        private final Request request;
        private final Facts facts;
        private final AddressKind kind;
        private final Matcher matcher;
        private Fit.@Nullable No nearest;
        private String nearestRule = "";
        private @Nullable String unsafePath;

        Question(Request request, Facts facts, AddressKind kind) {
            this.request = request;
            this.facts = facts;
            this.kind = kind;
            this.matcher = new Matcher(facts, kind);
        }

        Decision answer() {
            Rule rule = allowing();
            if (rule == null && kind != AddressKind.PUBLIC) {
                return Builtins.deny(request, kind.word(), facts.peer() + at() + " " + kind.clause());
            }
            if (rule == null && unsafePath != null) {
                return unsafe(unsafePath);
            }
            Set<Need> needs = rule == null ? EnumSet.noneOf(Need.class) : needs(matcher.allow(rule));
            Decision denied = denied(needs);
            if (denied != null) {
                return denied;
            }
            if (rule == null) {
                return refuse(Decision.DEFAULT, why());
            }
            if (needs.contains(Need.REQUEST) && request.stage() == Stage.TLS && isPassed()) {
                return refuse(
                        Decision.DEFAULT,
                        "TLS to " + facts.peer() + " is not opened (tls.pass), so requests cannot be judged");
            }
            Set<Need> open = request.stage() == Stage.DNS ? Set.of(Need.CONNECTION) : needs;
            return allow(
                    rule.id(), "rule " + rule.id() + " allows " + rule.traffic().destination() + asked(needs), open);
        }

        /// The first rule that allows it for certain, else the first that may.
        private @Nullable Rule allowing() {
            Rule perhaps = null;
            for (Rule rule : policy.rules()) {
                switch (matcher.allow(rule)) {
                    case Fit.Yes _ -> {
                        return rule;
                    }
                    case Fit.Maybe _ -> perhaps = perhaps == null ? rule : perhaps;
                    case Fit.UnsafePath unsafe -> unsafePath = unsafe.why();
                    case Fit.No no -> {
                        if (nearest == null || no.depth() > nearest.depth()) {
                            nearest = no;
                            nearestRule = rule.id();
                        }
                    }
                }
            }
            return perhaps;
        }

        private static Set<Need> needs(Fit fit) {
            return fit instanceof Fit.Maybe maybe ? EnumSet.copyOf(maybe.needs()) : EnumSet.noneOf(Need.class);
        }

        /// What `deny` says; adds to `needs` what it may say later.
        @Nullable
        Decision denied(Set<Need> needs) {
            for (int i = 0; i < policy.deny().size(); i++) {
                switch (matcher.deny(policy.deny().get(i))) {
                    case Fit.Yes _ -> {
                        return refuse(
                                "deny[" + i + "]",
                                "deny[" + i + "] refuses "
                                        + policy.deny().get(i).destination());
                    }
                    case Fit.UnsafePath unsafe -> {
                        return unsafe(unsafe.why());
                    }
                    case Fit.Maybe maybe -> needs.addAll(maybe.needs());
                    case Fit.No _ -> {}
                }
            }
            return null;
        }

        private Decision unsafe(String why) {
            return Builtins.deny(request, "path", "the path cannot be judged by rules about paths: " + why);
        }

        private boolean isPassed() {
            return facts.host() != null && policy.passes(facts.host());
        }

        private String at() {
            return facts.host() != null && facts.address() != null ? ", at " + facts.address() + "," : "";
        }

        private String why() {
            Fit.No near = nearest;
            return near == null || near.depth() == 0
                    ? "no rule allows " + facts.peer()
                    : "rule " + nearestRule + " allows " + near.why();
        }

        private static String asked(Set<Need> needs) {
            return needs.contains(Need.REQUEST)
                    ? "; each request is judged"
                    : needs.contains(Need.TOOL) ? "; each message is judged" : "";
        }

        Decision allow(String rule, String reason, Set<Need> needs) {
            return new Decision(Verdict.ALLOW, request.stage(), rule, reason, needs);
        }

        /// In observe mode the request goes on, so that its address is still to be judged.
        Decision refuse(String rule, String reason) {
            if (policy.mode() == Mode.ENFORCE) {
                return new Decision(Verdict.DENY, request.stage(), rule, reason, Set.of());
            }
            List<Need> open = facts.address() != null
                    ? List.of()
                    : List.of(facts.stage() == Stage.DNS ? Need.CONNECTION : Need.ADDRESS);
            return new Decision(Verdict.WOULD_DENY, request.stage(), rule, reason, Set.copyOf(open));
        }
    }
}
