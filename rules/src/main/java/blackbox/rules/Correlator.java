package blackbox.rules;

import blackbox.rules.Rule.Counted;
import blackbox.rules.Rule.Together;
import blackbox.rules.event.Weighed;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Finds the rules over other rules that hold, from the matches of those in a run's order. When one holds it
/// begins anew, so that what it needed counts once. Owned by one thread.
public final class Correlator {

    /// Of each rule; the group in which something matched longest ago is forgotten first.
    private static final int GROUPS_MAX = 100_000;

    /// What the groups of a rule may take of memory, octets, as far as that can be told.
    private static final long GROUPS_BYTES_MAX = 16 << 20;

    private static final long GROUP_BYTES = 200;
    private static final long SEEN_BYTES = 40;
    private static final long VALUE_BYTES = 160;

    private final Map<String, List<Part>> parts = new HashMap<>();

    private long forgotten;

    private record Part(RuleSet.Over over, int place, Weighed<List<@Nullable String>, Group> groups) {}

    /// What has matched of one rule over others, and agrees in what it is grouped by.
    private interface Group {
        /// @return the indexes of all matches that make the rule hold; empty if it does not yet
        List<Long> add(int part, @Nullable String value, Match.OfEvent match);

        /// What it takes of memory, octets; 0 if nothing is kept.
        long weight();
    }

    public Correlator(RuleSet rules) {
        for (RuleSet.Over over : rules.over()) {
            var groups = new Weighed<List<@Nullable String>, Group>(GROUPS_MAX, GROUPS_BYTES_MAX, _ -> forgotten++);
            for (int i = 0; i < over.parts().size(); i++) {
                parts.computeIfAbsent(over.parts().get(i).about().id(), _ -> new ArrayList<>())
                        .add(new Part(over, i, groups));
            }
        }
    }

    /// Takes the next match, and returns which rules hold with it.
    public List<Match> see(Match.OfEvent match) {
        List<Part> concerned = parts.get(match.rule().about().id());
        if (concerned == null) {
            return List.of();
        }
        var found = new ArrayList<Match>();
        // A rule that names one twice takes a match for its later place first, so that it is not both.
        for (Part part : concerned.reversed()) {
            RuleSet.Over over = part.over();
            Integer counted = over.counted().get(part.place());
            List<@Nullable String> key = new ArrayList<>();
            over.group()
                    .get(part.place())
                    .forEach(place -> key.add(match.values().get(place)));
            Group known = part.groups().get(key);
            Group group = known == null ? group(over) : known;
            List<Long> held = group.add(
                    part.place(), counted == null ? null : match.values().get(counted), match);
            if (held.isEmpty() && group.weight() > 0) {
                part.groups().put(key, group, GROUP_BYTES + bytes(key) + group.weight());
            } else if (!held.isEmpty()) {
                part.groups().remove(key);
                List<Long> last = held.subList(Math.max(0, held.size() - Match.INDEXES_MAX), held.size());
                found.add(new Match(over.rule(), match.index(), match.atNs(), last));
            }
        }
        return found;
    }

    /// How many groups were forgotten, with what had matched in them.
    public long forgotten() {
        return forgotten;
    }

    private static long bytes(List<@Nullable String> key) {
        return key.stream()
                .mapToLong(each -> each == null ? 0 : 2L * each.length())
                .sum();
    }

    private static Group group(RuleSet.Over over) {
        long withinNs = over.rule().within().toNanos();
        return switch (over.rule().correlation()) {
            case Counted(long least, String field) ->
                field == null ? new Count(least, withinNs) : new Different(least, withinNs);
            case Together(boolean ordered) ->
                ordered
                        ? new Sequence(over.parts().size(), withinNs)
                        : new Each(over.parts().size(), withinNs);
        };
    }

    private record Seen(long atNs, long index) {}

    private static final class Count implements Group {
        private final ArrayDeque<Seen> seen = new ArrayDeque<>();
        private final long least;
        private final long withinNs;

        Count(long least, long withinNs) {
            this.least = least;
            this.withinNs = withinNs;
        }

        @Override
        public List<Long> add(int part, @Nullable String value, Match.OfEvent match) {
            seen.addLast(new Seen(match.atNs(), match.index()));
            while (match.atNs() - seen.getFirst().atNs() > withinNs) {
                seen.removeFirst();
            }
            return seen.size() < least
                    ? List.of()
                    : seen.stream().map(Seen::index).toList();
        }

        @Override
        public long weight() {
            return SEEN_BYTES * seen.size();
        }
    }

    private static final class Different implements Group {
        private final LinkedHashMap<String, Seen> seen = new LinkedHashMap<>();
        private final long least;
        private final long withinNs;
        private long characters;

        Different(long least, long withinNs) {
            this.least = least;
            this.withinNs = withinNs;
        }

        @Override
        public List<Long> add(int part, @Nullable String value, Match.OfEvent match) {
            if (value == null) {
                return List.of();
            }
            characters += seen.remove(value) == null ? value.length() : 0;
            seen.put(value, new Seen(match.atNs(), match.index()));
            Iterator<Map.Entry<String, Seen>> eldest = seen.entrySet().iterator();
            while (eldest.hasNext()) {
                Map.Entry<String, Seen> old = eldest.next();
                if (match.atNs() - old.getValue().atNs() <= withinNs) {
                    break;
                }
                characters -= old.getKey().length();
                eldest.remove();
            }
            return seen.size() < least
                    ? List.of()
                    : seen.values().stream().map(Seen::index).toList();
        }

        @Override
        public long weight() {
            return VALUE_BYTES * seen.size() + 2 * characters;
        }
    }

    private static final class Each implements Group {
        private final Map<Integer, Seen> seen = new HashMap<>();
        private final int parts;
        private final long withinNs;

        Each(int parts, long withinNs) {
            this.parts = parts;
            this.withinNs = withinNs;
        }

        @Override
        public List<Long> add(int part, @Nullable String value, Match.OfEvent match) {
            seen.put(part, new Seen(match.atNs(), match.index()));
            seen.values().removeIf(old -> match.atNs() - old.atNs() > withinNs);
            return seen.size() < parts
                    ? List.of()
                    : seen.values().stream()
                            .map(Seen::index)
                            .distinct()
                            .sorted()
                            .toList();
        }

        @Override
        public long weight() {
            return SEEN_BYTES * parts;
        }
    }

    /// Of each place the latest matches that lead up to it: none that began earlier could be better.
    private static final class Sequence implements Group {
        private final List<@Nullable List<Seen>> upTo;
        private final long withinNs;

        Sequence(int parts, long withinNs) {
            this.upTo = new ArrayList<>(Collections.nCopies(parts, null));
            this.withinNs = withinNs;
        }

        @Override
        public List<Long> add(int part, @Nullable String value, Match.OfEvent match) {
            var mine = new Seen(match.atNs(), match.index());
            var chain = new ArrayList<Seen>();
            if (part > 0) {
                List<Seen> before = upTo.get(part - 1);
                if (before == null
                        || match.atNs() - before.getFirst().atNs() > withinNs
                        || before.getLast().index() >= match.index()) {
                    return List.of();
                }
                chain.addAll(before);
            }
            chain.add(mine);
            upTo.set(part, chain);
            return part + 1 < upTo.size()
                    ? List.of()
                    : Objects.requireNonNull(upTo.getLast()).stream()
                            .map(Seen::index)
                            .toList();
        }

        @Override
        public long weight() {
            return upTo.stream()
                    .mapToLong(chain -> chain == null ? 0 : chain.size())
                    .sum();
        }
    }
}
