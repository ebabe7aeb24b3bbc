package blackbox.node.alert;

import blackbox.recorder.guest.HostClock;
import blackbox.recorder.seal.RowWatch;
import blackbox.rules.Match;
import blackbox.rules.Rule;
import blackbox.rules.RuleSet;
import blackbox.rules.match.RuleWatch;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Makes alerts of what rules find in a run's rows. Owned by the run's writer.
///
/// A rule's first [#EACH_MAX] matches are an alert each. After that, so that a guest cannot fill its record with them,
/// there is one each time their number has doubled, and one at the end with how many there were.
public final class RuleAlerts implements RowWatch {
    static final int EACH_MAX = 100;

    private static final JsonMapper JSON = new JsonMapper();

    private final RunId run;
    private final HostClock clock;
    private final RuleSet rules;
    private @Nullable RuleWatch watch;
    private final Consumer<Alert> told;
    private final Map<String, Counted> counts = new LinkedHashMap<>();
    private final IdentityHashMap<Event, Said> said = new IdentityHashMap<>();
    private long judged;

    private static final class Counted {
        private final Rule rule;
        private long count;
        private long toldCount;
        private List<Long> last = List.of();

        Counted(Rule rule) {
            this.rule = rule;
        }
    }

    private record Said(Rule rule, long count, List<Long> indexes) {}

    /// @param told is given each alert once it is durable; it must not block
    public RuleAlerts(RunId run, RuleSet rules, HostClock clock, Consumer<Alert> told) {
        this.run = run;
        this.rules = rules;
        this.clock = clock;
        this.watch = new RuleWatch(rules);
        this.told = told;
    }

    /// What the record says before anything is watched.
    ///
    /// @param leftOut how many rules could not be used
    public Event opening(int leftOut) {
        return rules(
                "opened",
                JSON.createObjectNode().put("rules", rules.rules().size()).put("leftOut", leftOut));
    }

    @Override
    public List<Event> see(long index, Row row) {
        long kind = row.has(Column.KIND) ? row.number(Column.KIND) : 0;
        if (kind == Kind.RECORDER_ALERT.code() || kind == Kind.RECORDER_RULES.code()) {
            return List.of();
        }
        RuleWatch whole = watch;
        if (whole == null) {
            return List.of();
        }
        List<Match> matches;
        try {
            matches = whole.see(index, row);
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
            // The recording goes on, and says that from here on no rule watches it.
            watch = null;
            return List.of(rules(
                    "failed", JSON.createObjectNode().put("judged", judged).put("why", e.toString())));
        }
        judged++;
        if (matches.isEmpty()) {
            return List.of();
        }
        var alerts = new ArrayList<Event>();
        for (Match match : matches) {
            Counted counted = counts.computeIfAbsent(match.rule().about().id(), _ -> new Counted(match.rule()));
            counted.count++;
            counted.last = match.indexes();
            if (counted.count <= EACH_MAX || Long.bitCount(counted.count) == 1) {
                alerts.add(alert(match.rule(), counted));
            }
        }
        return alerts;
    }

    @Override
    public List<Event> finish() {
        var last = new ArrayList<Event>();
        for (Counted counted : counts.values()) {
            if (counted.count > counted.toldCount) {
                last.add(alert(counted.rule, counted));
            }
        }
        long matches =
                counts.values().stream().mapToLong(counted -> counted.count).sum();
        last.add(rules(
                "closed",
                JSON.createObjectNode()
                        .put("judged", judged)
                        .put("matches", matches)
                        .put("forgotten", watch == null ? 0 : watch.forgotten())));
        return last;
    }

    private Event rules(String state, ObjectNode detail) {
        detail.put("state", state);
        return new Event.Detection(
                Kind.RECORDER_RULES, EventHeader.host(clock.nowNs()), rules.digest(), detail.toString());
    }

    private Event alert(Rule rule, Counted counted) {
        counted.toldCount = counted.count;
        Rule.About about = rule.about();
        ObjectNode detail = JSON.createObjectNode()
                .put("title", about.title())
                .put("level", about.level().word())
                .put("sha256", about.sha256())
                .put("count", counted.count);
        counted.last.forEach(detail.putArray("indexes")::add);
        var event = new Event.Detection(
                Kind.RECORDER_ALERT, EventHeader.host(clock.nowNs()), about.id(), detail.toString());
        said.put(event, new Said(rule, counted.count, counted.last));
        return event;
    }

    @Override
    public void sealed(long index, Event event) {
        Said alert = said.remove(event);
        if (alert != null) {
            told.accept(new Alert(run, index, event.header().atNs(), alert.rule(), alert.count(), alert.indexes()));
        }
    }
}
