package blackbox.cli.demo;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.terminal.Narrator;
import blackbox.evidence.text.Printable;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.VerificationReport;
import blackbox.node.record.RecordResult;
import blackbox.node.verdict.ReplayReport;
import blackbox.node.verdict.ReplaySession.Verdicts;
import blackbox.query.brief.BriefText;
import blackbox.query.brief.TouchedInBrief;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/// What the demo shows at the end, on one screen: the run, what it touched, the proof, the verdict, and what
/// to try next.
///
/// @param phases how long each phase took
public record DemoReport(
        RecordResult result,
        TouchedInBrief touched,
        Verification verification,
        Verdicts verdicts,
        List<Narrator.Phase> phases) {
    /// The most lines that it ever has.
    public static final int LINES_MAX = 25;

    private static final int LINE_CHARS_MAX = 160;
    private static final int TOUCHED_MAX = 12;

    /// 0 when everything holds.
    public int exitCode() {
        if (verdicts.isFailure()) {
            return ExitCodes.FAILED;
        }
        return verification.holds() && verdicts.hold() ? ExitCodes.OK : ExitCodes.DOES_NOT_HOLD;
    }

    public void print(PrintWriter out) {
        lines().forEach(out::println);
        out.flush();
    }

    List<String> lines() {
        var tier = result.tier();
        var lines = new ArrayList<String>();
        add(
                lines,
                "run",
                result.run() + ", " + result.events() + " events, "
                        + result.losses().inWords());
        add(lines, "tier", tier.tier().label() + ": " + Printable.of(tier.reason()));
        add(
                lines,
                "touched",
                BriefText.lines(touched.brief()).stream().limit(TOUCHED_MAX).toArray(String[]::new));
        add(
                lines,
                "proof",
                verification.integrity() + ", " + VerificationReport.completeness(verification) + ": "
                        + verification.events()
                        + " events under " + verification.checkpoints() + " signed checkpoints");
        add(lines, "replay", ReplayReport.brief(verdicts).toArray(String[]::new));
        Path back = result.workspace();
        add(lines, "workspace", back == null ? "did not come back" : Printable.of(back.toString()));
        add(lines, "took", took());
        add(
                lines,
                "next",
                "blackbox touched last --all              everything the agent did",
                "blackbox verify last                     verify again, from files and public keys",
                "blackbox record --workspace . -- make    a run of your own");
        return lines;
    }

    /// @param text [Printable] already
    private static void add(List<String> lines, String label, String... text) {
        for (int i = 0; i < text.length; i++) {
            lines.add("%-10s %s".formatted(i == 0 ? label : "", cut(text[i])));
        }
    }

    private static String cut(String text) {
        return text.length() <= LINE_CHARS_MAX ? text : text.substring(0, LINE_CHARS_MAX - 1) + "…";
    }

    private String took() {
        Duration all = phases.stream().map(Narrator.Phase::took).reduce(Duration.ZERO, Duration::plus);
        return phases.stream().map(Narrator.Phase::toString).collect(Collectors.joining(", ")) + "; total "
                + Narrator.time(all);
    }

    /// One object; `verify` and `replay` have the forms of these commands.
    public void write(JsonGenerator out) throws IOException {
        out.writeStartObject();
        out.writeStringField("run", result.run().value());
        out.writeStringField("tier", result.tier().tier().label());
        out.writeStringField("tierReason", result.tier().reason());
        out.writeNumberField("exitCode", result.exitCode());
        out.writeNumberField("events", result.events());
        result.losses().writeFields(out);
        Path back = result.workspace();
        out.writeStringField("workspace", back == null ? null : back.toString());
        out.writeFieldName("verify");
        VerificationReport.write(out, verification);
        out.writeFieldName("replay");
        out.writeRawValue(ReplayReport.json(verdicts).toString());
        out.writeArrayFieldStart("phases");
        for (Narrator.Phase phase : phases) {
            out.writeStartObject();
            out.writeStringField("name", phase.name());
            out.writeNumberField("seconds", phase.took().toMillis() / 1000.0);
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeEndObject();
    }
}
