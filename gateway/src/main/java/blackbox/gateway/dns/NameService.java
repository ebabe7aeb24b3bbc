package blackbox.gateway.dns;

import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.Decision.Stage;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.Findings;
import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.GatewayListener;
import blackbox.gateway.egress.Judge;
import blackbox.gateway.egress.Outcome;
import blackbox.gateway.egress.Protocol;
import blackbox.gateway.egress.Verdict;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Answers the guest's questions about names, after an authority was asked about each. Owned by the loop.
public final class NameService {
    private static final int PENDING_MAX = 1_024;

    private final NameTable names;
    private final Judge judge;
    private final GatewayListener listener;
    private final Findings findings;
    private int pending;

    public NameService(NameTable names, Judge judge, GatewayListener listener, Findings findings) {
        this.names = names;
        this.judge = judge;
        this.listener = listener;
        this.findings = findings;
    }

    /// Answers a message, maybe later. What is no question at all has no answer.
    ///
    /// @param flow over which it came: by UDP, long answers are cut and to be asked for by TCP
    /// @param answer takes the answer's octets, once, on the loop
    /// @return whether there will be one
    public boolean answer(Flow flow, byte[] message, Consumer<byte[]> answer) {
        DnsQuery query = DnsQuery.parse(message);
        if (query == null || query.fault() != 0) {
            findings.found(Finding.MALFORMED_DNS, query == null ? "not a question" : "code " + query.fault());
            if (query != null) {
                answer.accept(DnsAnswer.error(query, query.fault()));
            }
            return query != null;
        }
        Consumer<byte[]> fitting = octets -> answer.accept(
                flow.protocol() == Protocol.UDP && octets.length > query.udpBytesMax()
                        ? DnsAnswer.truncated(query)
                        : octets);
        if (query.type() == DnsQuery.PTR) {
            fitting.accept(pointer(query));
        } else if (query.name().isEmpty()) {
            fitting.accept(DnsAnswer.nothing(query)); // the root: there is one, and it has no address
        } else if (!HostName.isOne(query.name())) {
            findings.found(Finding.MALFORMED_DNS, "no name of a host");
            fitting.accept(denied(flow, query, Verdict.deny(null, "it is not the name of a host")));
        } else if (pending >= PENDING_MAX) {
            findings.found(Finding.QUESTIONS_DROPPED, "more than " + PENDING_MAX + " at once");
            fitting.accept(DnsAnswer.error(query, DnsQuery.SERVER_FAILURE));
        } else {
            ask(flow, query, fitting);
        }
        return true;
    }

    /// Counts what came where questions belong and is none.
    public void malformed(String what) {
        findings.found(Finding.MALFORMED_DNS, what);
    }

    private byte[] pointer(DnsQuery query) {
        String name = names.reverse(query.name());
        return name == null
                ? DnsAnswer.denied(query, "this address stands for no name")
                : DnsAnswer.pointer(query, name);
    }

    private void ask(Flow flow, DnsQuery query, Consumer<byte[]> answer) {
        pending++;
        judge.name(query.name(), query.typeText()).thenAccept(verdict -> {
            pending--;
            answer.accept(decided(flow, query, verdict));
        });
    }

    private byte[] decided(Flow flow, DnsQuery query, Verdict verdict) {
        if (!query.asksAddress()) {
            return other(flow, query, verdict);
        }
        String rule = verdict.rule();
        if (!verdict.allowed() || rule == null) {
            return denied(flow, query, verdict);
        }
        byte[] address = names.address(query.name(), rule);
        if (address == null) {
            findings.found(Finding.NAMES_REFUSED, "rule " + rule);
            return denied(flow, query, Verdict.deny(null, "too many different names were asked for under " + rule));
        }
        tell(flow, query, verdict.outcome(), verdict.rule(), verdict.reason());
        // An HTTPS record could bring keys and protocols that nobody could look into.
        return query.type() == DnsQuery.A ? DnsAnswer.address(query, address) : DnsAnswer.nothing(query);
    }

    /// Nothing but addresses is served yet, since it would have to be asked for outside. That a name has none of a type
    /// says nothing about its other types, as a denial of the name would.
    private byte[] other(Flow flow, DnsQuery query, Verdict verdict) {
        Verdict refused = verdict.allowed()
                ? Verdict.deny(null, "the gateway answers for addresses only, not for " + query.typeText())
                : verdict;
        tell(flow, query, refused.outcome(), refused.rule(), refused.reason());
        return DnsAnswer.unsupported(query, refused.reason());
    }

    private byte[] denied(Flow flow, DnsQuery query, Verdict verdict) {
        tell(flow, query, Outcome.DENY, verdict.rule(), verdict.reason());
        return DnsAnswer.denied(query, verdict.reason());
    }

    private void tell(Flow flow, DnsQuery query, Outcome outcome, @Nullable String rule, String reason) {
        listener.decided(new Decision(Stage.DNS, outcome, rule, reason, flow, query.name(), query.typeText()));
    }
}
