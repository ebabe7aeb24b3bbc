package blackbox.query.answer;

import blackbox.query.answer.EventJson.Mark;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunState;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Gathers what a recording itself says about what it may have missed.
final class LimitCollector {

    private static final int FINDINGS_MAX = 100;

    private final Map<String, Long> lost = new TreeMap<>();
    private final Map<String, Long> truncated = new TreeMap<>();
    private final Map<String, Long> unread = new TreeMap<>();
    private final List<String> findings = new ArrayList<>();
    private final List<String> probesFailed = new ArrayList<>();
    private boolean tracerReady;

    void see(Kind kind, Row row) {
        switch (kind) {
            case RECORDER_LOSS -> lost.merge(what(row), row.has(Column.LOST) ? row.number(Column.LOST) : 0, Long::sum);
            case RECORDER_FINDING -> finding(row);
            case TRACER_READY -> ready(row);
            default -> {}
        }
        if (row.has(Column.TRUNCATED)) {
            row.list(Column.TRUNCATED)
                    .forEach(mark -> truncated.merge(Mark.parse(mark.toString()).name(), 1L, Long::sum));
        }
        if (row.has(Column.UNREAD)) {
            for (Text name : row.list(Column.UNREAD)) {
                unread.merge(name.toString(), 1L, Long::sum);
            }
        }
    }

    private static String what(Row row) {
        return row.has(Column.WHAT) ? row.text(Column.WHAT).toString() : "unknown";
    }

    private void finding(Row row) {
        if (findings.size() < FINDINGS_MAX) {
            String detail = row.has(Column.DETAIL) ? ": " + row.text(Column.DETAIL) : "";
            findings.add("the recorder noticed " + what(row) + detail);
        }
    }

    private void ready(Row row) {
        tracerReady = true;
        JsonNode detail = RunFacts.detailOf(row);
        JsonNode failed = detail.has("failed")
                ? detail.path("failed")
                : detail.path("tracer").path("failed");
        for (JsonNode probe : failed) {
            if (probesFailed.size() < FINDINGS_MAX) {
                probesFailed.add(probe.isTextual() ? probe.textValue() : probe.toString());
            }
        }
    }

    List<String> limits(RunFacts facts) {
        var limits = new ArrayList<String>();
        if (facts.state() == RunState.OPEN) {
            limits.add("the run is still being recorded; this is what was recorded so far");
        } else if (facts.state() == RunState.TRUNCATED) {
            limits.add("the recording ends without a close: what happened after its last event was not recorded");
        }
        if (!tracerReady) {
            limits.add("no tracer reported ready: what happened inside the guest was not seen");
        }
        lost.forEach((what, count) -> limits.add(count + " events were lost (" + what + ")"));
        truncated.forEach((name, count) -> limits.add("the value " + name + " was cut in " + count + " events"));
        unread.forEach((name, count) -> limits.add("the value " + name + " could not be read in " + count + " events"));
        if (!probesFailed.isEmpty()) {
            limits.add("these probes could not be attached: " + String.join(", ", probesFailed));
        }
        limits.addAll(findings);
        return limits;
    }
}
