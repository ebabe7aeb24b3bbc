package blackbox.rules;

import blackbox.rules.RuleException.Code;
import blackbox.rules.event.Field;
import blackbox.schemas.Hash;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Rules that are used together: their ids are unique, and what they name is among them.
public final class RuleSet {

    public static final RuleSet NONE = new RuleSet(List.of(), List.of(), Map.of(), Set.of());

    private final List<Rule.OfEvents> single;
    private final List<Over> over;
    private final Map<String, List<Field>> asked;
    private final Set<String> silent;

    /// A rule over others, with what it counts by.
    ///
    /// @param parts the rules that it names, in its order
    /// @param group of each part the places in [#asked] of what it is grouped by
    /// @param counted of each part the place of what only different values of count; null if each match counts
    record Over(
            Rule.OverRules rule,
            List<Rule.OfEvents> parts,
            List<List<Integer>> group,
            List<@Nullable Integer> counted) {}

    private RuleSet(List<Rule.OfEvents> single, List<Over> over, Map<String, List<Field>> asked, Set<String> silent) {
        this.single = List.copyOf(single);
        this.over = List.copyOf(over);
        this.asked = Map.copyOf(asked);
        this.silent = Set.copyOf(silent);
    }

    /// Joins rules.
    ///
    /// @throws RuleException when two have the same id, or one names a rule that is not there or a field that the
    ///     other's events do not have
    public static RuleSet of(Collection<Rule> rules) throws RuleException {
        var named = new HashMap<String, Rule>();
        var names = new HashSet<String>();
        for (Rule rule : rules) {
            if (named.put(rule.about().id(), rule) != null) {
                throw wrong(rule, "another rule has the id " + rule.about().id() + ", too");
            }
        }
        for (Rule rule : rules) {
            String name = rule.about().name();
            if (name != null && !names.add(name)) {
                throw wrong(rule, "another rule has the name '" + name + "', too");
            }
            if (name != null) {
                named.putIfAbsent(name, rule);
            }
        }
        var asked = new HashMap<String, List<Field>>();
        var single = new ArrayList<Rule.OfEvents>();
        var over = new ArrayList<Over>();
        var silent = new LinkedHashSet<String>();
        for (Rule rule : rules) {
            switch (rule) {
                case Rule.OfEvents of -> {
                    single.add(of);
                    asked.computeIfAbsent(of.about().id(), _ -> new ArrayList<>());
                }
                case Rule.OverRules many -> {
                    over.add(join(many, named, asked));
                    if (!many.alone()) {
                        over.getLast()
                                .parts()
                                .forEach(part -> silent.add(part.about().id()));
                    }
                }
            }
        }
        return new RuleSet(single, over, asked, silent);
    }

    private static Over join(Rule.OverRules rule, Map<String, Rule> named, Map<String, List<Field>> asked)
            throws RuleException {
        var parts = new ArrayList<Rule.OfEvents>();
        var groups = new ArrayList<List<Integer>>();
        var counted = new ArrayList<@Nullable Integer>();
        for (String name : rule.rules()) {
            if (!(named.get(name) instanceof Rule.OfEvents part)) {
                throw wrong(rule, "it is over the rule '" + name + "', and there is none of events by that id or name");
            }
            parts.add(part);
            var group = new ArrayList<Integer>();
            for (String by : rule.groupBy()) {
                Map<String, String> alias = rule.aliases().getOrDefault(by, Map.of());
                String field = alias.getOrDefault(name, by);
                group.add(place(rule, part, field, asked));
            }
            groups.add(group);
            String field = rule.correlation() instanceof Rule.Counted values ? values.field() : null;
            counted.add(field == null ? null : place(rule, part, field, asked));
        }
        return new Over(rule, parts, groups, counted);
    }

    private static int place(Rule rule, Rule.OfEvents part, String name, Map<String, List<Field>> asked)
            throws RuleException {
        Field field = part.category()
                .field(name)
                .orElseThrow(
                        () -> wrong(rule, "the events of '" + part.about().title() + "' have no field '" + name + "'"));
        List<Field> fields = asked.computeIfAbsent(part.about().id(), _ -> new ArrayList<>());
        if (!fields.contains(field)) {
            fields.add(field);
        }
        return fields.indexOf(field);
    }

    private static RuleException wrong(Rule rule, String why) {
        return new RuleException(Code.MALFORMED, rule.about().file() + ": " + why);
    }

    /// Every rule: those of events, then those over others.
    public List<Rule> rules() {
        var all = new ArrayList<Rule>(single);
        over.forEach(each -> all.add(each.rule()));
        return all;
    }

    public List<Rule.OfEvents> ofEvents() {
        return single;
    }

    List<Over> over() {
        return over;
    }

    /// The fields of a rule's events that rules over it ask for.
    public List<Field> asked(Rule.OfEvents rule) {
        return asked.getOrDefault(rule.about().id(), List.of());
    }

    /// Whether matches of a rule are told of, and not only counted by rules over it.
    public boolean isTold(Rule rule) {
        return !silent.contains(rule.about().id());
    }

    public boolean isEmpty() {
        return single.isEmpty();
    }

    /// The digest of all rules: SHA-256, in hexadecimal, of their ids and digests, a line each, in the order of ids.
    public String digest() {
        String lines = rules().stream()
                .map(rule -> rule.about().id() + " " + rule.about().sha256() + "\n")
                .sorted()
                .collect(Collectors.joining());
        return Hash.sha256(lines.getBytes(StandardCharsets.UTF_8)).toString();
    }
}
