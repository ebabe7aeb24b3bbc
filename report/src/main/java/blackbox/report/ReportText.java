package blackbox.report;

import blackbox.evidence.anchor.AnchoredRange;
import blackbox.evidence.text.Timestamps;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.VerificationReport;
import blackbox.query.alerts.AlertSums;
import blackbox.query.answer.RunSummary;
import blackbox.query.answer.ShownCommand;
import blackbox.query.brief.Brief;
import blackbox.query.brief.Contact;
import blackbox.query.brief.FileChange;
import blackbox.query.brief.Notable;
import blackbox.query.calls.TokenSums;
import blackbox.report.Pages.Column;
import blackbox.report.Pages.Style;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The text of a report, section by section. What a table leaves out is counted, and is in the files inside
/// the PDF.
final class ReportText {
    private static final int ROWS_MAX = 200;
    private static final int REPLAYS_MAX = 20;
    private static final int COMMAND_CHARS_MAX = 600;

    /// What is said here in other words than `show`'s.
    private static final Set<String> OWN_WORDS = Set.of("run", "command");

    private final Pages pages;
    private final ReportFacts facts;

    ReportText(Pages pages, ReportFacts facts) {
        this.pages = pages;
        this.facts = facts;
    }

    /// @param signature how it is signed, in sentences
    void write(List<String> signature) throws IOException {
        pages.title("What the record says of run " + facts.run());
        verdicts();
        run();
        checking(signature);
        limits();
        findings();
        did();
        controls();
        pages.finish("Blackbox report of run " + facts.run() + ", made " + Timestamps.format(facts.madeAt()));
    }

    private void verdicts() throws IOException {
        Verification verified = facts.verification();
        boolean genuine = verified.integrity() == Verification.Integrity.VERIFIED;
        pages.fact(
                "Integrity",
                genuine ? Style.GOOD : Style.BAD,
                genuine
                        ? "VERIFIED: " + verified.events() + " events are as they were sealed"
                        : "TAMPERED: what is stored is not what was sealed; see the findings");
        pages.fact(
                "Completeness",
                switch (verified.completeness()) {
                    case COMPLETE -> Style.GOOD;
                    case LOSS_DECLARED, OPEN -> Style.DOUBTFUL;
                    case UNKNOWN, TRUNCATED -> Style.BAD;
                },
                VerificationReport.completeness(verified) + ": " + completeness(verified.completeness()));
        boolean anchored = verified.time() == Verification.Time.ANCHORED;
        pages.fact(
                "Time",
                anchored ? Style.GOOD : Style.DOUBTFUL,
                anchored
                        ? "ANCHORED: outside parties vouch for it"
                        : "HOST_CLOCK: only the recording host's own clock vouches for it");
        boolean trusted = verified.authorship().trusted();
        pages.fact(
                "Authorship",
                trusted ? Style.GOOD : Style.BAD,
                (trusted ? "trusted" : "NOT TRUSTED") + " where this report was made: "
                        + (verified.authorship().keys().isEmpty()
                                ? "no key signed it"
                                : String.join(", ", verified.authorship().keys())));
        for (AnchoredRange each : verified.anchors()) {
            pages.fact(
                    "",
                    "Events up to " + each.throughIndex() + " existed at " + Timestamps.format(each.notLaterThan())
                            + ", says " + String.join(", ", each.by()) + " ("
                            + each.kind().label() + ").");
        }
    }

    private static String completeness(Verification.Completeness completeness) {
        return switch (completeness) {
            case COMPLETE -> "the run was closed, and nothing was lost";
            case LOSS_DECLARED -> "the run was closed, and what was lost is counted in the record";
            case UNKNOWN -> "the run was closed, and it is not known whether all of it is there";
            case OPEN -> "it was still being recorded when this report was made";
            case TRUNCATED -> "its end is missing";
        };
    }

    /// As `show` prints it, without what tables show.
    private void run() throws IOException {
        pages.heading("The run");
        Brief brief = facts.touched().brief();
        String name = facts.summary().facts().name();
        pages.fact("run", facts.run().value());
        pages.fact("name", name == null ? "none" : name);
        pages.fact(
                "command",
                brief.command().isEmpty() ? "not known" : ShownCommand.of(brief.command(), COMMAND_CHARS_MAX));
        pages.fact("outcome", brief.ended() == null ? "not known" : String.valueOf(brief.ended()));
        var shown = new StringWriter();
        try (var out = new PrintWriter(shown)) {
            facts.summary().printFacts(out);
            if (facts.summary().control() != null) {
                facts.summary().control().print(out);
            }
            facts.summary().printUnread(out);
        }
        List<String> replays = facts.replays().reversed();
        for (String each : shown.toString().lines().toList()) {
            fact(each);
        }
        for (String each : replays.subList(0, Math.min(replays.size(), REPLAYS_MAX))) {
            fact(each);
        }
        if (facts.replays().size() > REPLAYS_MAX) {
            pages.fact("", "and " + (facts.replays().size() - REPLAYS_MAX) + " times before");
        }
        if (facts.replays().isEmpty()) {
            pages.fact("replayed", "never, as far as is known where this report was made");
        }
        pages.fact("report made", Timestamps.format(facts.madeAt()) + " by " + facts.program());
    }

    /// A line as `show` prints it.
    private void fact(String line) throws IOException {
        int value = Math.min(RunSummary.NAME_CHARS, line.length());
        String name = line.substring(0, value).strip();
        if (!OWN_WORDS.contains(name)) {
            pages.fact(name, line.substring(value).strip().replaceFirst(" {2}", " "));
        }
    }

    private void checking(List<String> signature) throws IOException {
        pages.heading("How to check this");
        for (String each : signature) {
            pages.paragraph(Style.BODY, each);
        }
        pages.paragraph(
                Style.BODY,
                "The signature shows that nobody changed this report since it was signed, if your reader says that it"
                        + " covers the whole document. Whether the report says what was recorded, the evidence itself shows,"
                        + " offline and with public keys alone: on the recording host with the command below; elsewhere with"
                        + " a bundle (blackbox export " + facts.run() + " --format bundle), the verifier, and the"
                        + " recorder's public key log.pub, which must come through a channel that you trust.");
        pages.paragraph(Style.STRONG, "blackbox verify " + facts.run());
        pages.paragraph(
                Style.BODY,
                "Inside this PDF are four files for programs: verify.json, run.json (what blackbox show says), touched.json"
                        + " and controls.json. A reader lists them as attachments; pdfdetach -saveall takes them out.");
    }

    private void did() throws IOException {
        Brief brief = facts.touched().brief();
        pages.heading("What the agent did");
        pages.fact("Programs", brief.processes() + " processes executed a program");
        pages.fact(
                "Files",
                Stream.of(FileChange.Net.values())
                                .map(net -> brief.count(net) + " " + net.word())
                                .collect(Collectors.joining(", "))
                        + "; " + brief.readOutside().size()
                        + " read outside the workspace and the system's programs. Temporary is what was neither there"
                        + " before nor after.");
        pages.fact("Network", "peers: " + brief.network().size());
        table(
                "Refusals, secrets and privileges",
                "touched.json",
                brief.notables(),
                List.of(
                        new Column("What", 1),
                        new Column("Act", 5),
                        new Column("By", 2),
                        new Column("Error", 1.2f),
                        new Column("Times", 0.8f),
                        new Column("Event", 1)),
                ReportText::row);
        table(
                "Network",
                "touched.json",
                brief.network(),
                List.of(
                        new Column("To", 3),
                        new Column("Name", 3),
                        new Column("Protocol", 1.2f),
                        new Column("By", 2),
                        new Column("Connections", 1.8f),
                        new Column("Octets out", 1.4f),
                        new Column("Octets in", 1.4f)),
                ReportText::row);
        table(
                "Files changed, without temporary ones",
                "touched.json",
                brief.changes().stream()
                        .filter(each -> each.net() != FileChange.Net.TEMPORARY)
                        .toList(),
                List.of(
                        new Column("File", 6),
                        new Column("It was", 1.3f),
                        new Column("Before", 3),
                        new Column("Octets written", 1.5f),
                        new Column("By", 2)),
                ReportText::row);
        table(
                "Files read outside the workspace and the system's programs",
                "touched.json",
                brief.readOutside(),
                List.of(new Column("File", 1)),
                List::of);
        table(
                "Programs executed",
                "touched.json",
                List.copyOf(brief.programs().entrySet()),
                List.of(new Column("Program", 5), new Column("Times", 1)),
                each -> List.of(each.getKey(), String.valueOf(each.getValue())));
        table(
                "Models called",
                "run.json",
                facts.summary().models(),
                List.of(new Column("Model", 2), new Column("Calls and tokens", 4)),
                ReportText::row);
        AlertSums.Alerts alerts = facts.summary().alerts();
        pages.skip(4);
        pages.fact(
                "Rules",
                alerts.watchedBy() == 0
                        ? "no detection rules watched the run"
                        : alerts.watchedBy() + " detection rules watched the run"
                                + (alerts.leftOut() == 0
                                        ? ""
                                        : "; " + alerts.leftOut() + " more were given and could not be used"));
        table(
                "Detection rules that matched",
                "run.json",
                alerts.rules(),
                List.of(
                        new Column("Level", 1),
                        new Column("Rule", 5),
                        new Column("Times", 1),
                        new Column("First event", 1.2f)),
                ReportText::row);
    }

    private static List<String> row(Notable each) {
        return List.of(
                each.what().word(),
                each.act(),
                text(each.by()),
                text(each.why()),
                String.valueOf(each.count()),
                String.valueOf(each.index()));
    }

    private static List<String> row(Contact each) {
        return List.of(
                each.remote(),
                text(each.host()),
                each.protocol(),
                String.join(", ", each.by()),
                each.flows() + (each.failed() ? ", all failed" : ""),
                String.valueOf(each.bytesOut()),
                String.valueOf(each.bytesIn()));
    }

    private static List<String> row(FileChange each) {
        String was = each.was();
        return List.of(
                each.path(),
                each.net().word(),
                was == null || was.equals(each.path()) ? "" : was,
                String.valueOf(each.bytesWritten()),
                text(each.by()));
    }

    private static List<String> row(TokenSums.OfModel each) {
        return List.of(each.model(), each.words());
    }

    private static List<String> row(AlertSums.OfRule each) {
        return List.of(each.level(), each.title(), String.valueOf(each.count()), String.valueOf(each.index()));
    }

    private static String text(@Nullable String text) {
        return text == null ? "" : text;
    }

    private interface Row<T> {
        List<String> of(T each);
    }

    /// One that has no rows says so.
    ///
    /// @param file that has all of it
    private <T> void table(String title, String file, List<T> all, List<Column> columns, Row<T> row)
            throws IOException {
        if (all.isEmpty()) {
            pages.skip(4);
            boolean whole = facts.verification().integrity() == Verification.Integrity.VERIFIED
                    && facts.summary().facts().fault() == null;
            pages.paragraph(Style.BODY, title + (whole ? ": none recorded" : ": none in what could be read"));
            return;
        }
        pages.subheading(title + " (" + all.size() + ")");
        pages.table(columns, all.stream().limit(ROWS_MAX).map(row::of).toList());
        more(all.size(), file);
    }

    private void more(int size, String file) throws IOException {
        if (size > ROWS_MAX) {
            pages.paragraph(
                    Style.BODY, "and " + (size - ROWS_MAX) + " more, which are in " + file + " inside this PDF");
        }
    }

    private void limits() throws IOException {
        pages.heading("What may not have been seen");
        List<String> limits = facts.limits();
        if (limits.isEmpty()) {
            pages.paragraph(Style.BODY, "The record names no limits of this run.");
        }
        for (String each : limits.subList(0, Math.min(limits.size(), ROWS_MAX))) {
            pages.item(each);
        }
        more(limits.size(), "touched.json and run.json");
    }

    private void findings() throws IOException {
        pages.heading("Findings");
        List<Verification.Finding> findings = facts.verification().findings();
        if (findings.isEmpty()) {
            pages.paragraph(Style.BODY, "None: neither the recorder nor the verification found anything amiss.");
            return;
        }
        pages.table(
                List.of(new Column("Event", 1), new Column("Finding", 8)),
                findings.stream()
                        .limit(ROWS_MAX)
                        .map(each -> List.of(each.index() < 0 ? "" : String.valueOf(each.index()), each.what()))
                        .toList());
        more(findings.size(), "verify.json");
    }

    private void controls() throws IOException {
        pages.heading("Controls of record-keeping");
        pages.paragraph(
                Style.BODY,
                "Which controls this run is evidence for. 'Holds' and 'does not hold' are what the command in that row answered"
                        + " for this run when the report was made; the others were not tried, or print what a person has to"
                        + " look at. A person who answers for the controls decides whether that is enough: this is neither"
                        + " legal advice nor a certificate.");
        pages.skip(4);
        List<List<String>> rows = new ArrayList<>();
        for (JsonNode each : facts.controls().document().path("controls")) {
            JsonNode exit = each.path("exitCode");
            boolean holds = exit.isInt() && exit.asInt() == 0;
            rows.add(List.of(
                    each.path("framework").asText() + " " + each.path("control").asText(),
                    each.path("asks").asText(),
                    holds
                            ? "holds"
                            : exit.isInt()
                                    ? "does not hold"
                                    : each.path("kind").asText().equals("review") ? "for a person" : "not tried",
                    each.path("command").asText(),
                    (holds ? "" : exit.isInt() ? "Would show, if it held: " : "If done, shows: ")
                            + each.path("shows").asText() + " Does not show: "
                            + each.path("doesNotShow").asText()));
        }
        pages.table(
                List.of(
                        new Column("Control", 2),
                        new Column("Asks", 3),
                        new Column("Result", 1.1f),
                        new Column("Command", 2.4f),
                        new Column("Shows", 4.5f)),
                rows);
    }
}
