package blackbox.report;

import blackbox.evidence.anchor.AnchoredRange;
import blackbox.evidence.text.Timestamps;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.VerificationReport;
import blackbox.query.alerts.AlertSums;
import blackbox.query.answer.ShownCommand;
import blackbox.query.brief.Brief;
import blackbox.query.brief.Contact;
import blackbox.query.brief.FileChange;
import blackbox.query.brief.Notable;
import blackbox.query.calls.TokenSums;
import blackbox.query.run.RunFacts;
import blackbox.report.Pages.Column;
import blackbox.report.Pages.Style;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The text of a report, section by section. What a table leaves out is counted, and is in the files inside
/// the PDF.
final class ReportText {
    private static final int ROWS_MAX = 200;
    private static final int COMMAND_CHARS_MAX = 600;
    private static final String NOT_KNOWN = "not known";

    private final Pages pages;
    private final ReportFacts facts;

    ReportText(Pages pages, ReportFacts facts) {
        this.pages = pages;
        this.facts = facts;
    }

    /// @param signature how it is signed, in sentences
    void write(List<String> signature) throws IOException {
        String name = facts.summary().facts().name();
        pages.title("What the record says of run " + (name == null ? facts.run().value() : name));
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
                        + String.join(", ", verified.authorship().keys()));
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

    private void run() throws IOException {
        pages.heading("The run");
        RunFacts of = facts.summary().facts();
        Brief brief = facts.touched().brief();
        RunFacts.Start start = of.start();
        RunFacts.End end = of.end();
        JsonNode detail = start == null ? MissingNode.getInstance() : start.detail();
        pages.fact("Run", facts.run().value());
        pages.fact("Name", of.name() == null ? "none" : String.valueOf(of.name()));
        pages.fact(
                "Command", brief.command().isEmpty() ? NOT_KNOWN : ShownCommand.of(brief.command(), COMMAND_CHARS_MAX));
        pages.fact("Started", start == null ? NOT_KNOWN : Timestamps.format(start.atNs()));
        pages.fact("Ended", end == null ? "the record has no end" : Timestamps.format(end.atNs()));
        pages.fact("Outcome", brief.ended() == null ? NOT_KNOWN : String.valueOf(brief.ended()));
        pages.fact("Tier", detail.path("tier").asText(NOT_KNOWN));
        JsonNode image = detail.path("image");
        pages.fact(
                "Image",
                image.isMissingNode()
                        ? NOT_KNOWN
                        : image.path("name").asText() + " "
                                + image.path("digest").asText());
        pages.fact(
                "Events",
                of.events() + ": " + brief.events().agent() + " of the agent, "
                        + brief.events().supervisor() + " of what runs it in the VM, "
                        + brief.events().host() + " of the host");
        pages.fact("Report made", Timestamps.format(facts.madeAt()) + " by " + facts.program());
    }

    private void checking(List<String> signature) throws IOException {
        pages.heading("How to check this");
        for (String each : signature) {
            pages.paragraph(Style.BODY, each);
        }
        pages.paragraph(
                Style.BODY,
                "The signature shows that nobody changed this report since. That what it says is what was recorded is shown"
                        + " by the evidence itself, offline and with public keys alone: on the recording host with the command"
                        + " below, or elsewhere with a bundle of it (blackbox export " + facts.run()
                        + " --format bundle),"
                        + " the verifier and the recorder's public key log.pub, which must come through a channel that you"
                        + " trust.");
        pages.paragraph(Style.STRONG, "blackbox verify " + facts.run());
        pages.paragraph(
                Style.BODY,
                "Inside this PDF are three files with all of it for programs: verify.json, touched.json and"
                        + " controls.json (pdfdetach -saveall, or the reader's list of attachments).");
    }

    private void did() throws IOException {
        Brief brief = facts.touched().brief();
        pages.heading("What the agent did");
        pages.fact("Programs", brief.processes() + " processes executed one");
        pages.fact(
                "Files",
                Stream.of(FileChange.Net.values())
                                .map(net -> brief.count(net) + " " + net.word())
                                .collect(Collectors.joining(", "))
                        + "; " + brief.readOutside().size()
                        + " read outside the workspace and the system's programs. Temporary is what was neither there"
                        + " before nor after.");
        pages.fact(
                "Network", "traffic with this many others: " + brief.network().size());
        table(
                "Refusals, secrets and privileges",
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
                brief.readOutside(),
                List.of(new Column("File", 1)),
                List::of);
        table(
                "Programs executed",
                List.copyOf(brief.programs().entrySet()),
                List.of(new Column("Program", 5), new Column("Times", 1)),
                each -> List.of(each.getKey(), String.valueOf(each.getValue())));
        table(
                "Models called",
                facts.summary().models(),
                List.of(new Column("Model", 2), new Column("Calls and tokens", 4)),
                ReportText::row);
        table(
                "Rules that held",
                facts.summary().alerts().rules(),
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
    private <T> void table(String title, List<T> all, List<Column> columns, Row<T> row) throws IOException {
        pages.skip(4);
        if (all.isEmpty()) {
            pages.paragraph(Style.BODY, title + ": none");
            return;
        }
        pages.paragraph(Style.STRONG, title + " (" + all.size() + ")");
        List<List<String>> rows = new ArrayList<>();
        for (T each : all.subList(0, Math.min(all.size(), ROWS_MAX))) {
            rows.add(row.of(each));
        }
        pages.table(columns, rows);
        if (all.size() > ROWS_MAX) {
            pages.paragraph(
                    Style.BODY, "and " + (all.size() - ROWS_MAX) + " more, which are in touched.json inside this PDF");
        }
    }

    private void limits() throws IOException {
        pages.heading("What may not have been seen");
        List<String> limits = facts.touched().touched().limits();
        if (limits.isEmpty()) {
            pages.paragraph(Style.BODY, "The record names no limits of this run.");
        }
        for (String each : limits) {
            pages.paragraph(Style.BODY, "• " + each);
        }
    }

    private void findings() throws IOException {
        pages.heading("Findings");
        List<Verification.Finding> findings = facts.verification().findings();
        if (findings.isEmpty()) {
            pages.paragraph(Style.BODY, "None: neither the recorder nor the verification found anything amiss.");
            return;
        }
        List<List<String>> rows = new ArrayList<>();
        for (Verification.Finding each : findings) {
            rows.add(List.of(each.index() < 0 ? "" : String.valueOf(each.index()), each.what()));
        }
        pages.table(List.of(new Column("Event", 1), new Column("Finding", 8)), rows);
    }

    private void controls() throws IOException {
        pages.heading("Controls of record-keeping");
        JsonNode map = facts.controls().document();
        pages.paragraph(Style.BODY, map.path("about").asText());
        pages.skip(4);
        List<List<String>> rows = new ArrayList<>();
        for (JsonNode each : map.path("controls")) {
            JsonNode exit = each.path("exitCode");
            rows.add(List.of(
                    each.path("framework").asText() + " " + each.path("control").asText(),
                    each.path("asks").asText(),
                    exit.isNull() ? "for a person" : exit.asInt() == 0 ? "holds" : "does not hold",
                    each.path("command").asText(),
                    each.path("shows").asText() + " Does not show: "
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
