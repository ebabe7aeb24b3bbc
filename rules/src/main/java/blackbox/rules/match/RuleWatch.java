package blackbox.rules.match;

import blackbox.rules.Correlator;
import blackbox.rules.Match;
import blackbox.rules.Rule;
import blackbox.rules.RuleSet;
import blackbox.rules.condition.Condition;
import blackbox.rules.condition.Folded;
import blackbox.rules.condition.TextPattern;
import blackbox.rules.event.Facts;
import blackbox.rules.event.Field;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Row;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Says which rules hold of a run's events, which it is shown once each and in their order. Owned by one thread.
public final class RuleWatch {

    private static final byte FITS = 1;
    private static final byte FITS_NOT = 2;

    private final Facts facts = new Facts();
    private final Correlator correlator;
    private final Map<Kind, List<Compiled>> byKind = new EnumMap<>(Kind.class);

    private final Map<Field, Integer> fields = new HashMap<>();
    private final Map<Condition, Integer> tests = new HashMap<>();

    /// Of the event at hand, by the numbers of fields and tests: they are asked for by many rules.
    private final @Nullable String[] values;

    private final @Nullable String[] folded;
    private final boolean[] isRead;
    private final byte[] outcomes;

    /// @param isTold and not only counted by rules over it
    /// @param asked what rules over it ask
    private record Compiled(Rule.OfEvents rule, Node condition, boolean isTold, List<Field> asked) {}

    /// A condition whose fields and tests have numbers.
    private interface Node {
        boolean holds();
    }

    public RuleWatch(RuleSet rules) {
        this.correlator = new Correlator(rules);
        for (Rule.OfEvents rule : rules.ofEvents()) {
            var compiled =
                    new Compiled(rule, compile(rule.condition()), rules.isTold(rule), List.copyOf(rules.asked(rule)));
            for (Kind kind : rule.category().kinds()) {
                byKind.computeIfAbsent(kind, _ -> new ArrayList<>()).add(compiled);
            }
        }
        values = new String[fields.size()];
        folded = new String[fields.size()];
        isRead = new boolean[fields.size()];
        outcomes = new byte[tests.size()];
    }

    /// Takes the run's next event, and returns which rules hold with it, of those that [are told
    /// of][RuleSet#isTold].
    public List<Match> see(long index, Row row) {
        facts.see(row);
        Kind kind = facts.kind();
        List<Compiled> concerned = kind == null ? null : byKind.get(kind);
        if (concerned == null) {
            return List.of();
        }
        Arrays.fill(isRead, false);
        Arrays.fill(outcomes, (byte) 0);
        List<Match> found = List.of();
        for (Compiled each : concerned) {
            Rule.OfEvents rule = each.rule();
            if (facts.isOf(rule.category()) && each.condition().holds()) {
                found = found.isEmpty() ? new ArrayList<>() : found;
                if (each.isTold()) {
                    found.add(new Match(rule, index, facts.atNs(), List.of(index)));
                }
                List<@Nullable String> asked = new ArrayList<>();
                each.asked().forEach(field -> asked.add(facts.value(field)));
                found.addAll(correlator.see(new Match.OfEvent(rule, index, facts.atNs(), asked)));
            }
        }
        return found;
    }

    /// How much of what rules over rules count was forgotten for want of room.
    public long forgotten() {
        return correlator.forgotten();
    }

    private Node compile(Condition condition) {
        return switch (condition) {
            case Condition.All(List<Condition> parts) -> {
                Node[] nodes = parts.stream().map(this::compile).toArray(Node[]::new);
                yield () -> {
                    for (Node node : nodes) {
                        if (!node.holds()) {
                            return false;
                        }
                    }
                    return true;
                };
            }
            case Condition.Any(List<Condition> parts) -> {
                Node[] nodes = parts.stream().map(this::compile).toArray(Node[]::new);
                yield () -> {
                    for (Node node : nodes) {
                        if (node.holds()) {
                            return true;
                        }
                    }
                    return false;
                };
            }
            case Condition.Not(Condition part) -> {
                Node node = compile(part);
                yield () -> !node.holds();
            }
            case Condition.Fits(Field field, TextPattern pattern) -> {
                int slot = number(fields, field);
                yield once(condition, () -> fits(slot, field, pattern));
            }
            case Condition.Same(Field one, Field other) -> {
                int first = number(fields, one);
                int second = number(fields, other);
                yield once(condition, () -> {
                    String value = folded(first, one);
                    return value != null && value.equals(folded(second, other));
                });
            }
        };
    }

    /// A test that several rules may make, made once of each event.
    private Node once(Condition condition, Node test) {
        int slot = number(tests, condition);
        return () -> {
            if (outcomes[slot] == 0) {
                outcomes[slot] = test.holds() ? FITS : FITS_NOT;
            }
            return outcomes[slot] == FITS;
        };
    }

    private static <T> int number(Map<T, Integer> numbers, T of) {
        return numbers.computeIfAbsent(of, _ -> numbers.size());
    }

    private boolean fits(int slot, Field field, TextPattern pattern) {
        String text = pattern.cased() ? value(slot, field) : folded(slot, field);
        return text == null ? pattern instanceof TextPattern.Missing : pattern.fits(text);
    }

    private @Nullable String value(int slot, Field field) {
        if (!isRead[slot]) {
            isRead[slot] = true;
            values[slot] = facts.value(field);
            folded[slot] = values[slot] == null ? null : Folded.of(values[slot]);
        }
        return values[slot];
    }

    private @Nullable String folded(int slot, Field field) {
        return value(slot, field) == null ? null : folded[slot];
    }
}
