package blackbox.node.verdict;

import blackbox.evidence.text.Printable;
import blackbox.evidence.text.Timestamps;
import blackbox.node.verdict.ReplaySession.Verdicts;
import blackbox.node.verdict.VerdictLog.StoredVerdict;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.replay.divergence.EffectDifference;
import blackbox.replay.output.OutputDifference;
import blackbox.replay.request.Difference;
import blackbox.replay.verdict.ClockOffset;
import blackbox.replay.verdict.Comparison;
import blackbox.replay.verdict.DifferingOctets;
import blackbox.replay.verdict.FirstDivergence;
import blackbox.replay.verdict.Levels;
import blackbox.replay.verdict.Refusal;
import blackbox.replay.verdict.SharedOffsets;
import blackbox.replay.verdict.Verdict;
import blackbox.replay.verdict.VerdictJson;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.Vault;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The answer of `replay`, bounded in size: as JSON, and as text for people.
public final class ReplayReport {
    private static final int LINE_MAX = 400;
    /// What fits on one screen of 25 lines.
    private static final Shown SCREEN = new Shown(1, 2, 6, 1, 0, 1);

    private static final Shown ALL =
            new Shown(3, Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE);

    private ReplayReport() {}

    /// One document: the fields of the decisive verdict, and for every verdict its document and whether it is
    /// signed.
    public static ObjectNode json(Verdicts verdicts) {
        StoredVerdict telling = verdicts.telling();
        ObjectNode tree = VerdictJson.tree(telling.verdict());
        tree.put("at", Timestamps.format(telling.verdict().at()));
        tree.put("why", verdicts.why());
        tree.put("host", Host.name());
        tree.put("times", verdicts.asked()).put("held", verdicts.held());
        RateReport.json(tree, verdicts);
        ArrayNode all = tree.putArray("verdicts");
        for (StoredVerdict each : verdicts.kept()) {
            all.addObject()
                    .put("verdict", each.verdict().outcome().name())
                    .put("document", each.file().toString())
                    .put("signed", each.unsigned() == null)
                    .put("unsigned", each.unsigned())
                    .put("log", each.log());
        }
        next(verdicts).forEach(tree.putArray("next")::add);
        return tree;
    }

    /// A verdict in a few words.
    public static String inWords(Verdict verdict) {
        return verdict.outcome().name() + LevelText.of(verdict.comparison().levels());
    }

    /// Who reads the text.
    public enum Reader {
        /// Someone who may see what a request contained.
        TERMINAL,
        /// A file or a build log, which others may read later.
        FILE
    }

    /// How much of it is printed.
    public enum Extent {
        /// One screen.
        SCREEN,
        /// Everything.
        ALL
    }

    /// The same as text for people.
    ///
    /// @param octets in which the replay differs
    public static void print(PrintWriter out, Verdicts verdicts, Octets octets, Reader reader, Extent extent) {
        if (verdicts.kept().size() == 1) {
            print(out, verdicts, octets, reader, extent == Extent.SCREEN ? SCREEN : ALL);
            return;
        }
        if (extent == Extent.SCREEN) {
            RateReport.print(out, verdicts, next(verdicts));
            return;
        }
        print(out, verdicts, octets, reader, ALL);
        RateReport.differences(out, DifferenceUnion.of(verdicts.kept()), verdicts, Integer.MAX_VALUE);
        out.flush();
    }

    /// How many of each kind of line are printed.
    ///
    /// @param effects that differ
    /// @param causes of each difference
    /// @param notCompared where nothing diverges
    /// @param notComparedBeside a divergence
    /// @param context events around the divergence
    /// @param next commands that show more
    private record Shown(int effects, int causes, int notCompared, int notComparedBeside, int context, int next) {
        boolean isAll() {
            return equals(ALL);
        }
    }

    private static void print(PrintWriter out, Verdicts verdicts, Octets octets, Reader reader, Shown shown) {
        StoredVerdict telling = verdicts.telling();
        Verdict verdict = telling.verdict();
        out.println("run           " + verdicts.run());
        out.println("tier          " + verdict.tier().word() + ": " + verdicts.why());
        out.println("verdict       " + verdict.outcome()
                + LevelText.of(verdict.comparison().levels()) + times(verdicts));
        comparison(out, verdict.comparison(), shown);
        for (Refusal each : verdict.refusals()) {
            line(out, "refused       ", each.what() + " (" + each.kind() + ")");
            line(out, "  expected    ", each.expected());
            line(out, "  here        ", each.actual());
            line(out, "  to fix it   ", each.mend());
        }
        String message = verdict.message();
        if (message != null) {
            line(out, "because       ", message);
        }
        Difference missed = octets.request();
        if (missed != null) {
            out.println(
                    "octets        the request differs from octet " + missed.at() + " on; what it holds may be secret");
            differing(out, missed, reader, "blackbox show " + verdicts.run() + " --missed");
        }
        Difference printed = octets.output();
        if (printed != null) {
            out.println(
                    "octets        the output differs from octet " + printed.at() + " on; what it holds may be secret");
            differing(out, printed, reader, "blackbox show " + verdicts.run() + " --printed");
        }
        String unsigned = telling.unsigned();
        out.println("document      " + telling.file());
        out.println("signed        "
                + (unsigned == null ? "yes, in the log of runs " + telling.log() : "NO: " + Printable.of(unsigned))
                + (telling.log() == null ? "" : ", made on " + Host.name()));
        next(verdicts).stream().limit(shown.next()).forEach(command -> out.println("next          " + command));
        out.flush();
    }

    /// The verdict in at most four lines, [Printable], for a report that contains more.
    public static List<String> brief(Verdicts verdicts) {
        Verdict verdict = verdicts.telling().verdict();
        Comparison comparison = verdict.comparison();
        var lines = new ArrayList<String>();
        lines.add(verdict.outcome() + LevelText.of(comparison.levels()) + times(verdicts) + ": " + comparison.events()
                + " events compared, " + comparison.egressPackets() + " packets left the machine");
        FirstDivergence divergence = comparison.firstDivergence();
        if (divergence != null) {
            lines.add("they diverge at event " + divergence.index() + ", " + divergence.kind() + ": recorded "
                    + divergence.expected() + ", replayed " + divergence.actual());
        }
        if (!verdict.refusals().isEmpty()) {
            Refusal first = verdict.refusals().getFirst();
            lines.add("refused: " + first.what() + "; to fix it: " + first.mend());
        }
        String message = verdict.message();
        if (message != null) {
            lines.add("because " + message);
        }
        return lines.stream().map(Printable::of).toList();
    }

    private static String times(Verdicts verdicts) {
        return verdicts.asked() == 1
                ? ""
                : "  (" + verdicts.held() + " of " + verdicts.asked() + " replays confirm the run)";
    }

    private static void effects(PrintWriter out, Levels levels, Shown shown) {
        List<EffectDifference> first = levels.effects()
                .subList(0, Math.min(shown.effects(), levels.effects().size()));
        for (EffectDifference each : first) {
            line(out, "effect        ", each.kind().name().toLowerCase(Locale.ROOT) + " " + each.subject());
            line(out, "  recorded    ", each.expected());
            line(out, "  replayed    ", each.actual());
        }
        if (levels.effectDifferences() > first.size()) {
            out.println("              and " + (levels.effectDifferences() - first.size()) + " more; "
                    + (shown.isAll() ? "" : "--all shows the first " + ALL.effects() + ", ") + "--json the first "
                    + Levels.EFFECTS_MAX);
        }
        FirstDivergence path = levels.firstPath();
        if (path != null && (shown.isAll() || first.isEmpty())) {
            out.println("path          parts at event " + path.index() + ", " + path.kind());
            sides(out, path, shown);
        }
    }

    private static void sides(PrintWriter out, FirstDivergence divergence, Shown shown) {
        line(out, "  recorded    ", divergence.expected());
        line(out, "  replayed    ", divergence.actual());
        divergence.causes().stream().limit(shown.causes()).forEach(each -> line(out, "  cause       ", each));
    }

    private static void comparison(PrintWriter out, Comparison comparison, Shown shown) {
        FirstDivergence divergence = comparison.firstDivergence();
        effects(out, comparison.levels(), shown);
        if (divergence != null) {
            divergence(out, divergence, shown);
        }
        if (!comparison.compared().isEmpty()) {
            line(out, "compared      ", comparison.events() + " events; " + String.join(", ", comparison.compared()));
        }
        List<String> not = comparison.notCompared();
        int most = divergence == null ? shown.notCompared() : shown.notComparedBeside();
        not.stream().limit(most).forEach(each -> line(out, "not compared  ", each));
        if (not.size() > most) {
            out.println("not compared  " + (not.size() - most) + " more things" + "; --all lists them");
        }
        rules(out, comparison.rules(), shown);
        if (!comparison.compared().isEmpty()) {
            out.println("egress        " + comparison.egressPackets() + " packets");
        }
        ClockOffset clock = comparison.clock();
        if (clock != null) {
            Long end = clock.endNs();
            out.println("guest clock   differs from the recorded one by " + seconds(clock.startNs())
                    + " at the command's start" + (end == null ? "" : ", by " + seconds(end) + " at its end"));
            SharedOffsets shared = clock.shared();
            if (shared != null) {
                out.println("              at " + shared.events() + " events that both have: half within "
                        + seconds(shared.p50Ns()) + ", 99 of 100 within " + seconds(shared.p99Ns())
                        + ", at most " + seconds(shared.maxNs()));
            }
        }
    }

    /// On one screen only what the rules are called: their names stand before the colon.
    private static void rules(PrintWriter out, List<String> rules, Shown shown) {
        if (shown.isAll()) {
            rules.forEach(each -> line(out, "permitted     ", each));
        } else if (!rules.isEmpty()) {
            String names = rules.stream().map(each -> each.split(":", 2)[0]).collect(Collectors.joining(", "));
            line(out, "permitted     ", names + "; --all says what each means");
        }
    }

    private static void divergence(PrintWriter out, FirstDivergence divergence, Shown shown) {
        out.println("diverges at   event " + divergence.index() + ", " + divergence.kind());
        sides(out, divergence, shown);
        OutputDifference output = divergence.output();
        if (output != null) {
            line(out, "  output      ", said(output));
        }
        divergence.context().stream().limit(shown.context()).forEach(each -> line(out, "    ", each));
    }

    private static void differing(PrintWriter out, Difference octets, Reader reader, String command) {
        if (reader == Reader.TERMINAL) {
            print(out, octets);
        } else {
            out.println("  to see it   " + command);
        }
    }

    /// The octets in which the replay that decides differs from the recording.
    ///
    /// @param request of a request that was not in the recording, if one ended the replay
    /// @param output of what the command printed
    public record Octets(
            @Nullable Difference request, @Nullable Difference output) {
        /// There are none.
        public static final Octets NONE = new Octets(null, null);
    }

    /// Opens them.
    ///
    /// @throws IOException when they are damaged, or cannot be opened
    public static Octets octets(DataFolder folder, Verdicts verdicts) throws IOException {
        Vault vault = PayloadKeyFile.vault(folder);
        Path document = verdicts.telling().file();
        return new Octets(
                DifferingOctets.REQUEST.of(vault, verdicts.run(), document),
                DifferingOctets.OUTPUT.of(vault, verdicts.run(), document));
    }

    /// The octets around the place where a replay differs from the recording, for someone who may see them.
    public static void print(PrintWriter out, Difference octets) {
        out.println("  recorded    " + Difference.printable(octets.recorded()));
        out.println("  replayed    " + Difference.printable(octets.replayed()));
    }

    private static String said(OutputDifference output) {
        return output.where() + ": "
                + switch (output.how()) {
                    case OTHER -> "something else was printed";
                    case SHORTER ->
                        "nothing more was printed, of " + output.expected().bytes() + " bytes";
                    case LONGER -> output.actual().bytes() - output.octet() + " more bytes were printed";
                };
    }

    private static String seconds(long ns) {
        return String.format(Locale.ROOT, "%.6f s", ns / 1e9);
    }

    private static void line(PrintWriter out, String label, String text) {
        out.println(label + Printable.of(text, LINE_MAX));
    }

    /// Commands that show more detail.
    private static List<String> next(Verdicts verdicts) {
        Verdict verdict = verdicts.telling().verdict();
        var next = new ArrayList<String>();
        FirstDivergence divergence = verdict.comparison().firstDivergence();
        if (divergence != null) {
            next.add("blackbox events " + verdicts.run() + "    (its event " + divergence.index() + ")");
            next.add("blackbox disk " + verdicts.run() + " --at " + divergence.index() + " --list /");
        }
        if (verdict.refusals().isEmpty()) {
            next.add("blackbox show " + verdicts.run() + "    (all verdicts on it)");
        }
        return next;
    }
}
