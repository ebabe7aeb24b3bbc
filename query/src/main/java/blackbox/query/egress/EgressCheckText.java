package blackbox.query.egress;

import blackbox.evidence.text.Printable;
import blackbox.policy.decide.Decision;
import blackbox.query.egress.EgressCheck.JudgedFlow;
import blackbox.query.egress.EgressCheck.JudgedName;
import java.io.PrintWriter;

/// Checks as text for people.
public final class EgressCheckText {

    private static final int NAME_MAX = 120;

    private EgressCheckText() {}

    /// Prints the check of one run.
    public static void print(PrintWriter out, EgressCheck check) {
        out.println("run " + check.run().value());
        for (JudgedFlow judged : check.flows()) {
            out.println("  " + flow(judged));
        }
        for (JudgedFlow judged : check.attempts()) {
            out.println("  refused by the gateway: " + flow(judged));
        }
        for (JudgedName judged : check.names()) {
            if (judged.isRefused()) {
                out.println("  " + name(judged));
            }
        }
        out.println("  " + summary(check));
        check.limits().forEach(limit -> out.println("  note: " + Printable.of(limit)));
    }

    private static String summary(EgressCheck check) {
        long allowed = check.flows().size() - check.refused() - check.notJudged();
        String notJudged = check.notJudged() == 0 ? "" : ", " + check.notJudged() + " cannot be judged";
        return "%d of %d kinds of flows would go through, %d would be refused%s; %d of %d names would not be answered"
                .formatted(
                        allowed,
                        check.flows().size(),
                        check.refused(),
                        notJudged,
                        check.unanswered(),
                        check.names().size());
    }

    private static String flow(JudgedFlow judged) {
        RecordedFlow flow = judged.flow();
        String program = flow.exe() == null ? "a program that is not known" : Printable.of(flow.exe(), NAME_MAX);
        return "%-10s %s by %s, %d times, %d octets out, %d in: %s"
                .formatted(
                        judged.verdict(),
                        peer(flow.peer()),
                        program,
                        flow.count(),
                        flow.bytesOut(),
                        flow.bytesIn(),
                        why(judged));
    }

    private static String peer(RecordedFlow.Peer peer) {
        String ip = peer.ip() == null ? "an address that is not recorded" : Printable.of(peer.ip(), NAME_MAX);
        String host = peer.host() == null ? ip : Printable.of(peer.host(), NAME_MAX) + " (" + ip + ")";
        String claimed = peer.claimed() == null ? "" : " as " + Printable.of(peer.claimed(), NAME_MAX);
        return Printable.of(peer.protocol()) + " " + host + claimed + " port "
                + (peer.port() == null ? "?" : peer.port());
    }

    private static String why(JudgedFlow judged) {
        Decision decision = judged.decision();
        String note = judged.note();
        return decision == null ? String.valueOf(note) : note == null ? why(decision) : why(decision) + "; " + note;
    }

    private static String name(JudgedName judged) {
        return "%-10s name %s %s, %d times: %s"
                .formatted(
                        judged.decision().verdict().word(),
                        Printable.of(judged.name().name(), NAME_MAX),
                        judged.name().type(),
                        judged.name().count(),
                        why(judged.decision()));
    }

    /// The rule that decided, and why.
    public static String why(Decision decision) {
        return decision.rule() + ": " + Printable.of(decision.reason());
    }
}
