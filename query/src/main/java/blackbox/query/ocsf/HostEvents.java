package blackbox.query.ocsf;

import blackbox.evidence.verify.Losses;
import blackbox.query.ocsf.Draft.Severity;
import blackbox.query.ocsf.OcsfClass.Activity;
import blackbox.query.run.RunFacts;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Finding;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import blackbox.schemas.view.VmView;
import com.fasterxml.jackson.databind.JsonNode;

/// What the recorder and the hypervisor report, as OCSF has it.
final class HostEvents {

    private static final Activity CREATE = new Activity(1, "Create");
    private static final Activity START = new Activity(3, "Start");
    private static final Activity STOP = new Activity(4, "Stop");
    private static final Activity ISOLATE = new Activity(1, "Isolate");
    private static final Activity EVICT = new Activity(2, "Evict");
    private static final Activity RESTORE = new Activity(3, "Restore");
    private static final int SUCCESS = 1;
    private static final int FAILURE = 2;
    private static final int RULE = 1;

    private final RunId run;
    private final AccessEvents accesses;

    HostEvents(RunId run) {
        this.run = run;
        accesses = new AccessEvents(run);
    }

    Draft draft(RecorderView event, String kind, long index) {
        return switch (event) {
            case RecorderView.Loss loss ->
                finding(index, "recorder.loss", Losses.inWords(loss.lost()) + " events were lost (" + loss.what() + ")")
                        .with(Severity.HIGH);
            case RecorderView.Noticed noticed -> {
                Finding known = noticed.finding();
                yield finding(
                                index,
                                String.valueOf(noticed.what()),
                                known == null ? "a finding that this version of Blackbox does not know" : known.words())
                        .with(noticed.meansMissing() ? Severity.HIGH : Severity.MEDIUM);
            }
            case RecorderView.Alert alert -> alert(alert, index);
            case RecorderView.Rules _,
                    RecorderView.Heartbeat _,
                    RecorderView.TracerHeartbeat _,
                    RecorderView.TracerReady _ -> Draft.base(kind);
        };
    }

    /// The levels of rules are OCSF's severities.
    private Draft alert(RecorderView.Alert alert, long index) {
        JsonNode detail = RunFacts.detailOf(alert.row());
        String title = detail.path("title").asText(String.valueOf(alert.rule()));
        Severity severity = switch (detail.path("level").asText()) {
            case "critical" -> Severity.CRITICAL;
            case "high" -> Severity.HIGH;
            case "medium" -> Severity.MEDIUM;
            case "low" -> Severity.LOW;
            default -> Severity.INFORMATIONAL;
        };
        return finding(index, title, title).with(severity);
    }

    private Draft finding(long index, String title, String words) {
        return Draft.of(
                OcsfClass.DETECTION,
                CREATE,
                new Fields()
                        .put("message", words)
                        .put(
                                "finding_info",
                                new Fields()
                                        .put("uid", run.value() + ":" + index)
                                        .put("title", title)
                                        .put("desc", words)
                                        .put(
                                                "analytic",
                                                new Fields().put("name", title).put("type_id", RULE))));
    }

    Draft draft(VmView event, String kind, long index) {
        return switch (event) {
            case VmView.Command command -> command(command, index);
            case VmView.Lifecycle _, VmView.Probe _, VmView.Capture _ -> Draft.base(kind);
        };
    }

    private Draft command(VmView.Command event, long index) {
        Row row = event.row();
        JsonNode detail = RunFacts.detailOf(row);
        String what = row.has(Column.WHAT) ? row.text(Column.WHAT).toString() : "";
        Activity activity = switch (what) {
            case "pause" -> ISOLATE;
            case "resume" -> RESTORE;
            case "kill" -> EVICT;
            default -> Activity.other(what);
        };
        String outcome = detail.path("outcome").asText();
        return Draft.of(
                        OcsfClass.PROCESS_REMEDIATION,
                        activity,
                        new Fields()
                                .put("command_uid", run.value() + ":" + index)
                                .put(
                                        "process",
                                        new Fields().put("uid", run.value()).put("name", "agent"))
                                .put(
                                        "actor",
                                        new Fields()
                                                .put(
                                                        "user",
                                                        new Fields()
                                                                .put(
                                                                        "name",
                                                                        detail.path("user")
                                                                                .textValue()))
                                                .put("app_name", "blackbox " + what))
                                .put("message", detail.path("reason").textValue())
                                .put(
                                        "status_id",
                                        outcome.equals("done") || outcome.equals("already") ? SUCCESS : FAILURE))
                .with(Severity.MEDIUM);
    }

    Draft draft(RunView event, String kind) {
        return switch (event) {
            case RunView.AgentStart _ -> agent(START);
            case RunView.AgentExit _ -> agent(STOP);
            case RunView.Access access -> accesses.draft(access, kind);
            case RunView.Open _, RunView.Policy _, RunView.Close _ -> Draft.base(kind);
        };
    }

    private Draft agent(Activity activity) {
        return Draft.of(
                OcsfClass.APPLICATION,
                activity,
                new Fields().put("app", new Fields().put("name", "agent").put("uid", run.value())));
    }
}
