package blackbox.query.why;

import blackbox.evidence.text.Printable;
import java.io.PrintWriter;

/// [Why] as text for people: one line a step, each with its event's index.
public final class WhyText {

    private WhyText() {}

    /// Prints it.
    public static void print(PrintWriter out, Why why) {
        out.println((why.grade() == null ? "" : why.grade() + ": ") + why.answer());
        for (Step step : why.chain()) {
            out.printf(
                    "%8d  %-13s %-19s %s%s%n",
                    step.event().index(),
                    step.event().kind(),
                    step.role().before(),
                    Printable.of(step.what()),
                    identity(step));
        }
        for (Why.Candidate each : why.candidates()) {
            out.printf(
                    "or %5d  %-13s %-19s %s%n",
                    each.index(), "llm.tool", "with grade " + each.grade(), Printable.of(each.what()));
        }
        why.limits().forEach(limit -> out.println("limit: " + Printable.of(limit)));
    }

    private static String identity(Step step) {
        if (step.id() != null) {
            return "  (" + Printable.of(step.id()) + ")";
        }
        return step.process() == null ? "" : "  [" + step.process() + "]";
    }
}
