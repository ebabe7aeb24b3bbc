package blackbox.query.answer;

import blackbox.evidence.verify.EventAccount;
import blackbox.evidence.verify.Losses;
import blackbox.query.answer.EventJson.Mark;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunState;
import blackbox.schemas.event.Finding;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.Counts;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.PrivilegeView;
import blackbox.schemas.view.ProcessView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import blackbox.schemas.view.VmView;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Gathers what a recording itself says about what it may have missed. Owned by one thread.
public final class LimitCollector {

    private static final int FINDINGS_MAX = 100;

    /// A run may hold any names, as long as a row.
    private static final int NAMES_MAX = 100;

    private static final int NAME_CHARS_MAX = 200;
    private static final int DETAIL_CHARS_MAX = 2_000;
    private static final String OTHERS = "(others)";

    private final Map<String, Long> lost = new TreeMap<>();
    private final Map<String, Long> truncated = new TreeMap<>();
    private final Map<String, Long> unread = new TreeMap<>();
    private final Map<String, Long> notKnown = new TreeMap<>();
    private final List<String> findings = new ArrayList<>();
    private final List<String> probesFailed = new ArrayList<>();
    private final EventAccount account = new EventAccount();
    private boolean tracerReady;
    private String network = "";
    private boolean looksInside;
    private long elsewhere;
    private long overlays;

    /// Takes the next event.
    public void see(EventView event, long index) {
        account.see(index, event.row());
        switch (event) {
            case RecorderView.Loss loss -> count(lost, name(loss.what()), loss.lost());
            case RecorderView.Noticed noticed -> finding(noticed);
            case RecorderView.TracerReady ready -> ready(ready);
            case EventView.Unknown unknown -> count(notKnown, Long.toString(unknown.code()), 1);
            case RecorderView.Heartbeat _,
                    RecorderView.TracerHeartbeat _,
                    RecorderView.Alert _,
                    RecorderView.Rules _ -> {}
            case FileView file -> elsewhere += isElsewhere(file) ? 1 : 0;
            case PrivilegeView.Use use -> overlays += mountsOverlay(use) ? 1 : 0;
            case RunView.Open open -> {
                JsonNode opening = RunFacts.detailOf(open.row());
                network = opening.path("network").asText();
                looksInside = opening.path("trusted").isTextual(); // a gateway of an older version gave no authority
            }
            case ProcessView _, NetView _, PrivilegeView _, VmView _, RunView _ -> {}
        }
        for (Text mark : event.truncated()) {
            count(truncated, Mark.parse(mark.toString()).name(), 1);
        }
        for (Text name : event.unread()) {
            count(unread, name.toString(), 1);
        }
    }

    private static void count(Map<String, Long> counts, String name, long more) {
        String known = ShownCommand.cut(name, NAME_CHARS_MAX);
        counts.merge(counts.size() < NAMES_MAX || counts.containsKey(known) ? known : OTHERS, more, Counts::sum);
    }

    private static boolean isElsewhere(FileView file) {
        return RunFacts.detailOf(file.row()).has("mountNamespace");
    }

    /// By mount(2), or by opening the file system to configure it.
    private static boolean mountsOverlay(PrivilegeView.Use use) {
        if (use.failed() || use.isBySupervisor()) {
            return false;
        }
        String type = RunFacts.detailOf(use.row()).path("type").asText();
        return type.equals("overlay") || String.valueOf(use.what()).equals("fsopen"); // which does not say of what type
    }

    private static String name(@Nullable Text what) {
        return what == null ? "unknown" : what.toString();
    }

    private void finding(RecorderView.Noticed noticed) {
        if (findings.size() < FINDINGS_MAX) {
            Finding finding = noticed.finding();
            Text detail = noticed.detail();
            findings.add("the recorder noticed " + ShownCommand.cut(name(noticed.what()), NAME_CHARS_MAX)
                    + (finding == null ? "" : " (" + finding.words() + ")")
                    + (detail == null ? "" : ": " + ShownCommand.cut(detail.toString(), DETAIL_CHARS_MAX)));
        }
    }

    private void ready(RecorderView.TracerReady ready) {
        JsonNode detail = RunFacts.detailOf(ready.row());
        tracerReady = !detail.path("absent").asBoolean();
        JsonNode failed = detail.has("failed")
                ? detail.path("failed")
                : detail.path("tracer").path("failed");
        for (JsonNode probe : failed) {
            if (probesFailed.size() < FINDINGS_MAX) {
                probesFailed.add(
                        ShownCommand.cut(probe.isTextual() ? probe.textValue() : probe.toString(), NAME_CHARS_MAX));
            }
        }
    }

    /// What may be missing, in sentences.
    public List<String> limits(RunFacts facts) {
        var limits = new ArrayList<String>();
        Losses losses = account.losses(facts.state() == RunState.OPEN);
        if (facts.state() == RunState.CLOSED && !losses.isKnown()) {
            limits.add("completeness is UNKNOWN: from event " + losses.unknownFrom()
                    + " on, events may be missing that nothing counts ("
                    + String.join(", ", account.unknownBecause()) + ")");
        }
        if (facts.state() == RunState.OPEN) {
            limits.add("the run is still being recorded; this is what was recorded so far");
        } else if (facts.state() == RunState.TRUNCATED) {
            limits.add(
                    "the recording ends without a close: what happened after its last event was not recorded, and from"
                            + " event " + losses.unknownFrom() + " on events may be missing that nothing counts");
        }
        facts.leftOut().stream()
                .limit(FINDINGS_MAX)
                .forEach(each -> limits.add("left out: " + each.file() + ": " + each.why()));
        if (network.equals("user")) {
            limits.add(
                    "its network was open (--network user): it could reach whatever this host reaches, the host's own"
                            + " services at 10.0.2.2 included; with --policy a gateway decides that");
        } else if (network.equals("gateway")) {
            limits.add(
                    looksInside
                            ? "the egress gateway judged names, addresses, ports and HTTP requests; what else went over a"
                                    + " connection that it allowed, and TLS that the policy does not open, was relayed as"
                                    + " it was"
                            : "the egress gateway decided by names, addresses and ports; what went over a connection that"
                                    + " it allowed was not judged");
        }
        if (facts.service() != null && !tracerReady) {
            limits.add("it is the record of who asked `serve` what, and of no agent: `blackbox access` reads it");
        } else if (!tracerReady) {
            limits.add("no tracer reported ready: what happened inside the guest was not seen");
        }
        lost.forEach((what, count) -> limits.add(Losses.inWords(count) + " events were lost (" + what + ")"));
        truncated.forEach((name, count) -> limits.add("the value " + name + " was cut in " + count + " events"));
        unread.forEach((name, count) -> limits.add("the value " + name + " could not be read in " + count + " events"));
        if (elsewhere > 0) {
            limits.add(
                    elsewhere + " acts on files were through mounts of the agent's own: those files have the names by"
                            + " which the agent's first processes see them, or begin with a file system, such as tmpfs[0:45]/, where"
                            + " they see none; `events --json` has the names that were used (seenAs)");
        }
        if (overlays > 0) {
            limits.add("the agent mounted file systems that are or may be overlays, " + overlays
                    + " times: what was read and"
                    + " written through an overlay is named by it (overlay[…]/), not by the files of which it is made");
        }
        if (!probesFailed.isEmpty()) {
            limits.add("these probes could not be attached: " + String.join(", ", probesFailed));
        }
        notKnown.forEach((code, count) -> limits.add(count + " events are of kind " + code
                + ", which this version of Blackbox does not know: they are counted and verified, not shown"));
        limits.addAll(findings);
        return limits;
    }
}
