package blackbox.node.verdict;

import blackbox.evidence.text.Printable;
import blackbox.node.verdict.DifferenceUnion.Level;
import blackbox.node.verdict.DifferenceUnion.Seen;
import blackbox.node.verdict.ReplaySession.Verdicts;
import blackbox.replay.verdict.FirstDivergence;
import blackbox.replay.verdict.Verdict;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.util.List;

/// How many of several replays confirm a run, and what the others differ in, on one screen.
final class RateReport {
    private static final int SHOWN_MAX = 4;
    private static final int LINE_MAX = 160;

    private RateReport() {}

    /// Adds `levels` and `differences` to the answer.
    static void json(ObjectNode tree, Verdicts verdicts) {
        DifferenceUnion union = DifferenceUnion.of(verdicts.kept());
        tree.putObject("levels")
                .put("path", union.path())
                .put("effects", union.effects())
                .put("unknown", union.unknown());
        ArrayNode differences = tree.putArray("differences");
        for (Seen each : union.differences()) {
            differences
                    .addObject()
                    .put("level", each.level().word())
                    .put("kind", each.kind())
                    .put("subject", each.subject())
                    .put("expected", each.expected())
                    .put("actual", each.actual())
                    .put("replays", each.replays());
        }
    }

    /// Prints at most 25 lines.
    ///
    /// @param next commands that show more
    static void print(PrintWriter out, Verdicts verdicts, List<String> next) {
        Verdict telling = verdicts.telling().verdict();
        DifferenceUnion union = DifferenceUnion.of(verdicts.kept());
        out.println("run           " + verdicts.run());
        out.println("tier          " + telling.tier().word() + ": " + verdicts.why());
        rate(out, verdicts, union);
        differences(out, union, verdicts, SHOWN_MAX);
        FirstDivergence first = telling.comparison().firstDivergence();
        if (first != null) {
            out.println("diverges at   event " + first.index() + ", " + first.kind() + ", in the first that differs");
            line(out, "  recorded    ", first.expected());
            line(out, "  replayed    ", first.actual());
            first.causes().stream().limit(1).forEach(each -> line(out, "  cause       ", each));
        }
        long signed =
                verdicts.kept().stream().filter(each -> each.unsigned() == null).count();
        out.println("documents     " + verdicts.telling().file().getParent());
        out.println("signed        " + signed + " of " + verdicts.kept().size() + " in the log of runs");
        next.forEach(command -> out.println("next          " + command));
        out.println("next          the same with --all: every difference, and the verdict that decides");
        out.flush();
    }

    private static void rate(PrintWriter out, Verdicts verdicts, DifferenceUnion union) {
        out.println("rate          " + verdicts.held() + " of " + verdicts.asked() + " replays confirm the run ("
                + 100 * verdicts.held() / verdicts.asked() + " %): " + union.path() + " in every event, "
                + union.effects() + " in all effects"
                + (union.unknown() == 0 ? "" : ", " + union.unknown() + " without all being compared"));
    }

    /// Prints the differences, the first `most` of them.
    static void differences(PrintWriter out, DifferenceUnion union, Verdicts verdicts, int most) {
        if (union.differences().isEmpty()) {
            return;
        }
        out.println("differences   in effects: " + union.count(Level.EFFECTS) + ", in the path alone: "
                + union.count(Level.PATH) + " (the first of each replay); in how many replays each is:");
        union.differences().stream()
                .limit(most)
                .forEach(each -> print(out, each, verdicts.kept().size()));
        int left = union.differences().size() - most;
        if (left > 0) {
            out.println("              and " + left + " more");
        }
    }

    private static void print(PrintWriter out, Seen seen, int of) {
        line(
                out,
                "  %-12s".formatted(seen.replays() + " of " + of),
                seen.level().word() + "  " + seen.kind() + " " + seen.subject());
        String expected = seen.expected();
        String actual = seen.actual();
        if (expected != null && actual != null) {
            line(out, "              ", half(expected) + " -> " + half(actual));
        }
    }

    private static String half(String text) {
        return text.length() <= LINE_MAX / 2 ? text : text.substring(0, LINE_MAX / 2 - 1) + "…";
    }

    private static void line(PrintWriter out, String label, String text) {
        out.println(label + Printable.of(text, LINE_MAX));
    }
}
