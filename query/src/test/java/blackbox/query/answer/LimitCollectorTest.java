package blackbox.query.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.query.run.RunFacts;
import blackbox.query.run.RunState;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.view.EventViews;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// An imported run may hold any names: its limits stay short, and count them all.
class LimitCollectorTest {

    private static final RunId RUN = new RunId("01kaj3v4e00000000000000000");
    private static final int EACH = 3_000;

    @Test
    void namesAreCountedAndNotAllKept() {
        var collector = new LimitCollector();
        String tail = "\u0001".repeat(60_000);
        for (int i = 0; i < EACH; i++) {
            see(collector, i, new Row().set(Column.KIND, 1_000 + i));
            see(collector, i, row(Kind.RECORDER_LOSS).set(Column.WHAT, i + tail).set(Column.LOST, 2));
            see(
                    collector,
                    i,
                    row(Kind.RECORDER_FINDING).set(Column.WHAT, i + tail).set(Column.DETAIL, tail));
        }
        List<String> limits =
                collector.limits(new RunFacts(RUN, RunState.CLOSED, null, null, 0, null, List.of(), null));
        assertTrue(limits.size() < 320, () -> limits.size() + " sentences");
        assertTrue(limits.stream().allMatch(each -> each.length() < 5_000));
        assertEquals(2 * EACH, sum(limits, "(\\d+) events were lost"));
        assertEquals(EACH, sum(limits, "(\\d+) events are of kind"));
    }

    private static Row row(Kind kind) {
        return new Row().set(Column.KIND, kind.code());
    }

    private static void see(LimitCollector collector, long index, Row row) {
        collector.see(new EventViews().of(row.set(Column.AT_NS, index).set(Column.SOURCE, 2)), index);
    }

    private static long sum(List<String> limits, String pattern) {
        return limits.stream()
                .map(Pattern.compile(pattern)::matcher)
                .filter(each -> each.lookingAt())
                .mapToLong(each -> Long.parseLong(each.group(1)))
                .sum();
    }
}
