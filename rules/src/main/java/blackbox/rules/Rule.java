package blackbox.rules;

import blackbox.rules.condition.Condition;
import blackbox.rules.event.Category;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A detection rule.
public sealed interface Rule {

    About about();

    /// What both kinds of rules say of themselves.
    ///
    /// @param id unique among the rules that are used together
    /// @param name by which a rule over rules may name it, besides its id
    /// @param tags such as `attack.t1059`
    /// @param file where it came from, for people
    /// @param sha256 of that file's octets, in hexadecimal
    record About(
            String id,
            @Nullable String name,
            String title,
            Level level,
            String description,
            List<String> tags,
            String file,
            String sha256) {
        public About {
            tags = List.copyOf(tags);
        }
    }

    /// A rule that holds of single events.
    record OfEvents(About about, Category category, Condition condition) implements Rule {}

    /// A rule over how often, or in which order, other rules hold within a time.
    ///
    /// @param rules ids or names of the other rules
    /// @param groupBy only matches that agree in these are counted together; may be empty
    /// @param aliases of names in `groupBy`: which field it is in which rule, by the rule's id or name
    /// @param alone whether the other rules are told of by themselves, too
    record OverRules(
            About about,
            Correlation correlation,
            List<String> rules,
            List<String> groupBy,
            Map<String, Map<String, String>> aliases,
            Duration within,
            boolean alone)
            implements Rule {
        public OverRules {
            rules = List.copyOf(rules);
            groupBy = List.copyOf(groupBy);
            aliases = Map.copyOf(aliases);
        }
    }

    /// What is asked of the matches of other rules.
    sealed interface Correlation {}

    /// There are so many of them.
    ///
    /// @param field only different values of it count; null: each match counts
    record Counted(long least, @Nullable String field) implements Correlation {}

    /// Each of the rules has one.
    ///
    /// @param ordered in the order in which they are named
    record Together(boolean ordered) implements Correlation {}
}
