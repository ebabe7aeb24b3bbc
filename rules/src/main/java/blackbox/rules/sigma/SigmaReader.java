package blackbox.rules.sigma;

import blackbox.rules.Level;
import blackbox.rules.Rule;
import blackbox.rules.Rule.About;
import blackbox.rules.RuleException;
import blackbox.rules.condition.Condition;
import blackbox.rules.event.Category;
import blackbox.schemas.Hash;
import blackbox.schemas.event.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads rules in Sigma's format: its rules, version 2, and its correlation rules. Product `linux`, and `blackbox`
/// whose categories are [kinds of events][Category.OfKind].
public final class SigmaReader {
    private static final Pattern TIMESPAN = Pattern.compile("([1-9][0-9]{0,6})([smhd])");
    private static final long COUNT_MAX = 10_000;
    private static final int DEPTH_MAX = 16;
    /// By Sigma's specification.
    private static final int TITLE_MAX = 256;

    /// What stops a run names the rule by its id.
    private static final int ID_MAX = 200;

    /// Kinds of events of which no rule may hold: alerts follow what they are about, and nothing follows these, or
    /// they are about rules themselves.
    private static final Set<Kind> NOT_JUDGED =
            EnumSet.of(Kind.RECORDER_ALERT, Kind.RECORDER_RULES, Kind.RECORDER_HEARTBEAT, Kind.RUN_CLOSE);
    private static final List<String> LOG_SOURCE = List.of("product", "category", "service", "definition");

    private final String file;
    private final int number;
    private final String sha256;
    private final Map<?, ?> document;

    private SigmaReader(String file, int number, String sha256, Map<?, ?> document) {
        this.file = file;
        this.number = number;
        this.sha256 = sha256;
        this.document = document;
    }

    /// A file's rules.
    ///
    /// @param refused why documents are no rules that can be used
    /// @param served ids and names of rules that those among them are over, which only serve these
    public record Read(List<Rule> rules, List<RuleException> refused, Set<String> served) {
        public Read {
            rules = List.copyOf(rules);
            refused = List.copyOf(refused);
            served = Set.copyOf(served);
        }
    }

    /// Reads a file's rules, one in each of its documents.
    ///
    /// @param file its name, for people
    public static Read readEach(String file, byte[] octets) {
        String sha256 = Hash.sha256(octets).toString();
        var rules = new ArrayList<Rule>();
        var refused = new ArrayList<RuleException>();
        var served = new HashSet<String>();
        try {
            int number = 0;
            for (Map<?, ?> document : Yaml.documents(octets)) {
                number++;
                try {
                    rules.add(new SigmaReader(file, number, sha256, document).rule());
                } catch (RuleException e) {
                    served.addAll(served(document));
                    refused.add(
                            number == 1
                                    ? e
                                    : new RuleException(e.code(), "document " + number + ": " + e.getMessage()));
                }
            }
            if (number == 0) {
                refused.add(Yaml.malformed("there is no rule in it"));
            }
        } catch (RuleException e) {
            refused.add(e);
        }
        return new Read(rules, refused, served);
    }

    private static List<String> served(Map<?, ?> document) {
        try {
            return document.get("correlation") instanceof Map<?, ?> correlation
                            && !Boolean.TRUE.equals(correlation.get("generate"))
                    ? texts(correlation.get("rules"), "correlation.rules")
                    : List.of();
        } catch (RuleException _) {
            return List.of();
        }
    }

    /// The same, of a file of which each document must be a rule that can be used.
    ///
    /// @throws RuleException why one is none
    public static List<Rule> read(String file, byte[] octets) throws RuleException {
        Read read = readEach(file, octets);
        if (!read.refused().isEmpty()) {
            throw read.refused().getFirst();
        }
        return read.rules();
    }

    private Rule rule() throws RuleException {
        About about = about();
        if (document.containsKey("filter")) {
            throw Yaml.unsupported("it is a filter for other rules, which are not used here: put it into the rule");
        }
        if (document.containsKey("correlation")) {
            return overRules(about, mapping(document.get("correlation"), "correlation"));
        }
        Category category = category(mapping(document.get("logsource"), "logsource"));
        return new Rule.OfEvents(about, category, detection(category, mapping(document.get("detection"), "detection")));
    }

    private About about() throws RuleException {
        String title = line(required("title"), "title", TITLE_MAX);
        String id = line(document.containsKey("id") ? required("id") : nameOfFile(), "id", ID_MAX);
        String word = document.containsKey("level") ? required("level") : Level.MEDIUM.word();
        Level level = Level.of(word)
                .orElseThrow(() -> Yaml.malformed("its level is '" + word + "'; there are " + Level.words()));
        String name = document.containsKey("name") ? required("name") : null;
        String description = document.get("description") instanceof String text ? text.strip() : "";
        var tags = new ArrayList<String>();
        if (document.get("tags") instanceof List<?> list) {
            list.forEach(tag -> tags.add(String.valueOf(tag)));
        }
        return new About(id, name, title, level, description, tags, file, sha256);
    }

    private String nameOfFile() {
        String name = file.substring(file.lastIndexOf('/') + 1);
        // Files of one name are told apart by what is in them.
        return name + "@" + sha256.substring(0, 8) + (number == 1 ? "" : "#" + number);
    }

    /// What is told in a line of the record, and of a terminal.
    private static String line(String text, String key, int charsMax) throws RuleException {
        if (text.length() > charsMax || text.codePoints().anyMatch(Character::isISOControl)) {
            throw Yaml.malformed("its '" + key + "' is not one line of at most " + charsMax + " characters");
        }
        return text;
    }

    private String required(String key) throws RuleException {
        return text(document.get(key), key);
    }

    private static String text(@Nullable Object value, String key) throws RuleException {
        if (value instanceof String text && !text.isBlank()) {
            return text.strip();
        }
        throw Yaml.malformed(value == null ? "it has no '" + key + "'" : "its '" + key + "' is no text");
    }

    private static Map<?, ?> mapping(@Nullable Object value, String key) throws RuleException {
        if (value instanceof Map<?, ?> map) {
            return map;
        }
        throw Yaml.malformed(value == null ? "it has no '" + key + "'" : "its '" + key + "' is no mapping");
    }

    private static Category category(Map<?, ?> source) throws RuleException {
        for (Object key : source.keySet()) {
            if (!LOG_SOURCE.contains(String.valueOf(key))) {
                throw Yaml.malformed(
                        "its logsource has the key '" + key + "'; there are " + String.join(", ", LOG_SOURCE));
            }
        }
        String product = String.valueOf(source.get("product"));
        String word = String.valueOf(source.get("category"));
        if (source.containsKey("service") || !source.containsKey("category")) {
            throw Yaml.unsupported("it is about a log"
                    + (source.containsKey("service") ? " of '" + source.get("service") + "'" : "")
                    + " that Blackbox does not have: a rule names a category, and no service");
        }
        Optional<Category> category = switch (product) {
            case "linux" -> Category.Sigma.of(word);
            case "blackbox" -> kind(word).map(Category.OfKind::new);
            default -> Optional.empty();
        };
        return category.orElseThrow(() -> Yaml.unsupported(
                "it is about events that Blackbox does not record: product " + product + ", category " + word));
    }

    private static Optional<Kind> kind(String word) {
        for (Kind kind : Kind.values()) {
            if (kind.eventName().equals(word) && !NOT_JUDGED.contains(kind)) {
                return Optional.of(kind);
            }
        }
        return Optional.empty();
    }

    private static Condition detection(Category category, Map<?, ?> detection) throws RuleException {
        var searches = new LinkedHashMap<String, Condition>();
        for (Map.Entry<?, ?> entry : detection.entrySet()) {
            String name = String.valueOf(entry.getKey());
            if (!name.equals("condition") && !name.equals("timeframe")) {
                searches.put(name, search(category, name, entry.getValue(), 0));
            }
        }
        if (detection.containsKey("timeframe")) {
            throw Yaml.unsupported(
                    "it has a 'timeframe', as old rules do: write a rule with 'correlation' over this one");
        }
        Object condition = detection.get("condition");
        List<?> conditions = condition instanceof List<?> list ? list : List.of(text(condition, "condition"));
        var any = new ArrayList<Condition>();
        for (Object each : conditions) {
            any.add(Expression.read(searches, text(each, "condition")));
        }
        if (any.isEmpty()) {
            throw Yaml.malformed("its 'condition' is empty");
        }
        return Condition.any(any);
    }

    /// A mapping asks for all of its keys, a list for any of its items.
    private static Condition search(Category category, String name, @Nullable Object wanted, int depth)
            throws RuleException {
        var parts = new ArrayList<Condition>();
        switch (wanted) {
            case Map<?, ?> map -> {
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    parts.add(Values.read(category, String.valueOf(entry.getKey()), entry.getValue()));
                }
            }
            case List<?> list -> {
                for (Object item : list) {
                    if (depth >= DEPTH_MAX) {
                        throw Yaml.malformed("'" + name + "' is nested deeper than " + DEPTH_MAX);
                    }
                    parts.add(search(category, name, item, depth + 1));
                }
            }
            case null -> throw Yaml.malformed("'" + name + "' asks for nothing");
            default -> parts.add(Values.word(category, wanted));
        }
        if (parts.isEmpty()) {
            throw Yaml.malformed("'" + name + "' asks for nothing");
        }
        return wanted instanceof Map ? Condition.all(parts) : Condition.any(parts);
    }

    private Rule overRules(About about, Map<?, ?> correlation) throws RuleException {
        List<String> rules = texts(correlation.get("rules"), "correlation.rules");
        List<String> groupBy = correlation.containsKey("group-by")
                ? texts(correlation.get("group-by"), "correlation.group-by")
                : List.of();
        String type = text(correlation.get("type"), "correlation.type");
        Rule.Correlation asked = switch (type) {
            case "event_count" -> new Rule.Counted(least(correlation), null);
            case "value_count" ->
                new Rule.Counted(
                        least(correlation),
                        field(mapping(correlation.get("condition"), "condition").get("field")));
            case "temporal" -> together(correlation, rules, false);
            case "temporal_ordered" -> together(correlation, rules, true);
            default ->
                throw Yaml.unsupported("its correlation is '" + type
                        + "'; there are event_count, value_count, temporal and temporal_ordered");
        };
        boolean alone = Boolean.TRUE.equals(correlation.get("generate"));
        return new Rule.OverRules(
                about,
                asked,
                rules,
                groupBy,
                aliases(correlation.get("aliases")),
                within(text(correlation.get("timespan"), "correlation.timespan")),
                alone);
    }

    /// Each of the rules: a condition that says less is not known.
    private static Rule.Together together(Map<?, ?> correlation, List<String> rules, boolean ordered)
            throws RuleException {
        Object condition = correlation.get("condition");
        if (condition != null && !Map.of("gte", rules.size()).equals(condition)) {
            throw Yaml.unsupported("its correlation asks for " + condition + " of its rules; it can be all of them");
        }
        return new Rule.Together(ordered);
    }

    private static List<String> texts(@Nullable Object value, String key) throws RuleException {
        if (value instanceof List<?> list) {
            var texts = new ArrayList<String>();
            for (Object item : list) {
                texts.add(text(item, key));
            }
            if (!texts.isEmpty()) {
                return texts;
            }
        }
        return List.of(text(value, key));
    }

    private static String field(@Nullable Object field) throws RuleException {
        if (field instanceof List) {
            throw Yaml.unsupported("its correlation counts values of several fields together; it can be one");
        }
        return text(field, "field");
    }

    private static Map<String, Map<String, String>> aliases(@Nullable Object value) throws RuleException {
        var aliases = new LinkedHashMap<String, Map<String, String>>();
        if (value != null) {
            for (Map.Entry<?, ?> alias : mapping(value, "correlation.aliases").entrySet()) {
                var fields = new LinkedHashMap<String, String>();
                for (Map.Entry<?, ?> field :
                        mapping(alias.getValue(), "correlation.aliases").entrySet()) {
                    fields.put(String.valueOf(field.getKey()), text(field.getValue(), "correlation.aliases"));
                }
                aliases.put(String.valueOf(alias.getKey()), fields);
            }
        }
        return aliases;
    }

    private static Duration within(String timespan) throws RuleException {
        Matcher parts = TIMESPAN.matcher(timespan);
        if (!parts.matches()) {
            throw Yaml.unsupported("its timespan is '" + timespan + "'; write a number and s, m, h or d: 30s");
        }
        long number = Long.parseLong(parts.group(1));
        return switch (Objects.requireNonNull(parts.group(2))) {
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> Duration.ofDays(Math.min(number, 36_500));
        };
    }

    /// The count from which on the rule holds. Fewer than so many, and exactly so many, no one can say of a run that
    /// goes on.
    private static long least(Map<?, ?> correlation) throws RuleException {
        Map<?, ?> condition = mapping(correlation.get("condition"), "correlation.condition");
        Object gte = condition.get("gte");
        Object gt = condition.get("gt");
        long least = gte instanceof Integer count ? count : gt instanceof Integer count ? count + 1L : 0;
        if (condition.keySet().stream()
                .anyMatch(key -> !List.of("gte", "gt", "field").contains(String.valueOf(key)))) {
            throw Yaml.unsupported("its correlation counts with " + condition.keySet() + "; there are gte and gt");
        }
        if (least < 1 || least > COUNT_MAX || gte != null && gt != null) {
            throw Yaml.malformed("its correlation counts from one number on: gte or gt, 1 to " + COUNT_MAX);
        }
        return least;
    }
}
