package blackbox.query.hunt;

import blackbox.query.QueryException;
import blackbox.query.hunt.CategorySql.Lookups;
import blackbox.query.sql.OwnTable;
import blackbox.query.sql.ResultSink;
import blackbox.query.sql.SqlEngine;
import blackbox.rules.Correlator;
import blackbox.rules.Match;
import blackbox.rules.Rule;
import blackbox.rules.RuleSet;
import blackbox.rules.condition.TextPattern;
import blackbox.rules.event.Category;
import blackbox.rules.event.DetailValue;
import blackbox.rules.event.Field;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Looks for what rules hold of in runs that are in the table, and finds what the
/// [watch][blackbox.rules.match.RuleWatch] over the same events finds.
public final class RuleHunt {
    private final RuleSet rules;
    private final List<CategorySql> categories = new ArrayList<>();
    private final Lookups lookups = new Lookups();

    /// Is told of what was found, in the order of runs and indexes.
    @FunctionalInterface
    public interface Finder {
        void found(RunId run, Match match) throws IOException;
    }

    private RuleHunt(RuleSet rules) {
        this.rules = rules;
        var byCategory = new LinkedHashMap<Category, List<Rule.OfEvents>>();
        for (Rule.OfEvents rule : rules.ofEvents()) {
            byCategory.computeIfAbsent(rule.category(), _ -> new ArrayList<>()).add(rule);
        }
        for (Map.Entry<Category, List<Rule.OfEvents>> each : byCategory.entrySet()) {
            categories.add(new CategorySql(each.getKey(), categories.size(), rules, each.getValue(), lookups));
        }
    }

    /// Hunts.
    ///
    /// @param engine which has been asked to hunt never before
    /// @param runs where to look; none: in all that there are
    /// @return how many groups of matches rules over others have forgotten, of which they might have held
    ///     later
    public static long hunt(SqlEngine engine, RuleSet rules, Collection<RunId> runs, Finder finder)
            throws QueryException, IOException {
        return rules.isEmpty() ? 0 : new RuleHunt(rules).hunt(engine, runs, finder);
    }

    private long hunt(SqlEngine engine, Collection<RunId> runs, Finder finder) throws QueryException, IOException {
        String within = runs.isEmpty()
                ? "true"
                : runs.stream()
                        .map(run -> SqlEngine.quoted(run.toString()))
                        .collect(Collectors.joining(", ", "e.run IN (", ")"));
        Lineage.make(engine, within);
        String all = categories.stream()
                .map(category -> category.select(within))
                .collect(Collectors.joining("\nUNION ALL\n"));
        readDetails(engine, within);
        lookUp(engine);
        var found = new Found(finder);
        engine.selectOwn(all + "\nORDER BY run, \"index\"", found);
        return found.forgotten;
    }

    private void readDetails(SqlEngine engine, String within) throws QueryException, IOException {
        try (OwnTable details =
                engine.table("hunted_details", "run VARCHAR, \"index\" BIGINT, key VARCHAR, value VARCHAR")) {
            for (CategorySql category : categories) {
                if (!category.details().isEmpty()) {
                    String kinds = category.category().kinds().stream()
                            .map(kind -> SqlEngine.quoted(kind.eventName()))
                            .collect(Collectors.joining(", "));
                    engine.selectOwn(
                            "SELECT run, \"index\", detail FROM events e WHERE detail IS NOT NULL AND kind IN (" + kinds
                                    + ") AND " + within,
                            new Details(details, category.details()));
                }
            }
        }
    }

    /// Values in details, each under its key.
    private record Details(OwnTable rows, Set<String> keys) implements ResultSink {
        @Override
        public void columns(List<String> names) {}

        @Override
        public void row(List<@Nullable Object> values) throws IOException {
            for (String key : keys) {
                String value = DetailValue.of((String) values.get(2), key);
                if (value != null) {
                    rows.add(values.get(0), values.get(1), key, value);
                }
            }
        }

        @Override
        public void end() {}
    }

    private void lookUp(SqlEngine engine) throws QueryException, IOException {
        try (OwnTable values = engine.table("hunted_values", "number INTEGER, value VARCHAR")) {
            for (int i = 0; i < lookups.all().size(); i++) {
                Lookups.Lookup asked = lookups.all().get(i);
                engine.selectOwn(asked.source(), new Fitting(values, i, asked.pattern()));
            }
        }
    }

    /// Keeps the values that fit a pattern.
    private record Fitting(OwnTable rows, int number, TextPattern pattern) implements ResultSink {
        @Override
        public void columns(List<String> names) {}

        @Override
        public void row(List<@Nullable Object> values) throws IOException {
            if (values.getFirst() instanceof String text && pattern.fits(text)) {
                rows.add(number, text);
            }
        }

        @Override
        public void end() {}
    }

    /// A rule that holds of an event, and its place among the rules.
    private record Single(int place, Match.OfEvent match) {}

    /// Joins what was found of single events to what rules over rules ask: event by event, in the order of
    /// rules, as the watch does.
    private final class Found implements ResultSink {
        private final Finder finder;
        private final Map<String, Integer> places = new HashMap<>();
        private final List<Single> ofEvent = new ArrayList<>();
        private String run = "";
        private long index;
        private Correlator correlator = new Correlator(rules);
        private long forgotten;

        Found(Finder finder) {
            this.finder = finder;
            rules.ofEvents().forEach(rule -> places.put(rule.about().id(), places.size()));
        }

        @Override
        public void columns(List<String> names) {}

        @Override
        public void row(List<@Nullable Object> values) throws IOException {
            String of = (String) Objects.requireNonNull(values.getFirst());
            long next = number(values.get(1));
            if (!of.equals(run) || next != index) {
                tell();
            }
            if (!of.equals(run)) {
                run = of;
                forgotten += correlator.forgotten();
                correlator = new Correlator(rules);
            }
            index = next;
            CategorySql category = categories.get((int) number(values.get(3)));
            List<?> holds = (List<?>) Objects.requireNonNull(values.get(4));
            for (int i = 0; i < holds.size(); i++) {
                if (Boolean.TRUE.equals(holds.get(i))) {
                    Rule.OfEvents rule = category.rules().get(i);
                    List<@Nullable String> asked = new ArrayList<>();
                    for (Field field : rules.asked(rule)) {
                        asked.add((String) ((List<?>) Objects.requireNonNull(values.get(5)))
                                .get(category.asked().indexOf(field)));
                    }
                    int place = places.getOrDefault(rule.about().id(), 0);
                    ofEvent.add(new Single(place, new Match.OfEvent(rule, index, number(values.get(2)), asked)));
                }
            }
        }

        private void tell() throws IOException {
            ofEvent.sort(Comparator.comparingInt(Single::place));
            for (Single single : ofEvent) {
                Match.OfEvent match = single.match();
                if (rules.isTold(match.rule())) {
                    finder.found(
                            new RunId(run),
                            new Match(match.rule(), match.index(), match.atNs(), List.of(match.index())));
                }
                for (Match over : correlator.see(match)) {
                    finder.found(new RunId(run), over);
                }
            }
            ofEvent.clear();
        }

        private static long number(@Nullable Object value) {
            return ((Number) Objects.requireNonNull(value)).longValue();
        }

        @Override
        public void end() throws IOException {
            tell();
            forgotten += correlator.forgotten();
        }
    }
}
