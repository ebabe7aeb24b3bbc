package blackbox.rules.sigma;

import blackbox.policy.host.AddressRange;
import blackbox.rules.RuleException;
import blackbox.rules.condition.Condition;
import blackbox.rules.condition.TextPattern;
import blackbox.rules.condition.TextPattern.Compares.Order;
import blackbox.rules.event.Category;
import blackbox.rules.event.Field;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The values that a rule wants of a field, with the field's modifiers: `CommandLine|contains|all`.
final class Values {

    /// What a modifier of Sigma's may be. A rule with another one is not used.
    private enum Modifier {
        CONTAINS,
        STARTSWITH,
        ENDSWITH,
        ALL,
        CASED,
        RE,
        /// Of a regular expression: the case of letters does not count, `^` and `$` are at lines, `.` is any character.
        I,
        M,
        S,
        CIDR,
        LT,
        LTE,
        GT,
        GTE,
        EXISTS,
        FIELDREF,
        NEQ,
        WINDASH,
        BASE64,
        BASE64OFFSET;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final Set<Modifier> WHERE = Set.of(Modifier.CONTAINS, Modifier.STARTSWITH, Modifier.ENDSWITH);
    private static final Map<Modifier, Order> ORDERS = new EnumMap<>(
            Map.of(Modifier.LT, Order.LT, Modifier.LTE, Order.LTE, Modifier.GT, Order.GT, Modifier.GTE, Order.GTE));
    private static final Set<Modifier> ALONE = Set.of(
            Modifier.RE,
            Modifier.CIDR,
            Modifier.LT,
            Modifier.LTE,
            Modifier.GT,
            Modifier.GTE,
            Modifier.EXISTS,
            Modifier.FIELDREF);
    private static final Set<Modifier> OF_EXPRESSIONS = Set.of(Modifier.I, Modifier.M, Modifier.S);

    /// Characters that are written instead of the dash before an option.
    private static final List<String> DASHES = List.of("-", "/", "–", "—", "―");

    private static final int EXPRESSION_MAX = 1_000;

    /// Of fewer octets, base64 at an offset has nothing left that is always the same.
    private static final int CODED_MIN = 4;

    private final Category category;
    private final String key;
    private final Field field;
    private final Set<Modifier> modifiers;

    private Values(Category category, String key, Field field, Set<Modifier> modifiers) {
        this.category = category;
        this.key = key;
        this.field = field;
        this.modifiers = modifiers;
    }

    /// What a key and its values ask of an event.
    static Condition read(Category category, String key, @Nullable Object wanted) throws RuleException {
        String[] words = key.split("\\|", -1);
        Field field = field(category, words[0]);
        var modifiers = new LinkedHashSet<Modifier>();
        for (int i = 1; i < words.length; i++) {
            modifiers.add(modifier(key, words[i]));
        }
        return new Values(category, key, field, modifiers).read(wanted);
    }

    /// What is asked of an event by a word without a field.
    static Condition word(Category category, Object wanted) throws RuleException {
        String word = text(wanted);
        var places = new ArrayList<Condition>();
        for (Field field : category.searched()) {
            places.add(new Condition.Fits(field, Wildcards.read(word).inside().pattern(false)));
        }
        return Condition.any(places);
    }

    private static Field field(Category category, String name) throws RuleException {
        return category.field(name)
                .orElseThrow(() -> Yaml.unsupported("it asks for '" + name + "', which is not recorded of "
                        + category.word() + "; there are " + category.fieldNames()));
    }

    private static Modifier modifier(String key, String word) throws RuleException {
        for (Modifier modifier : Modifier.values()) {
            if (modifier.word().equals(word)) {
                return modifier;
            }
        }
        throw Yaml.unsupported("'" + key + "' has the modifier '" + word + "', which is not known here");
    }

    private Condition read(@Nullable Object wanted) throws RuleException {
        requireFitting();
        List<?> values = wanted instanceof List<?> list ? list : nullable(wanted);
        if (values.isEmpty()) {
            throw Yaml.malformed("'" + key + "' has an empty list");
        }
        var alternatives = new ArrayList<Condition>();
        for (Object value : values) {
            alternatives.add(one(value));
        }
        Condition condition =
                modifiers.contains(Modifier.ALL) ? Condition.all(alternatives) : Condition.any(alternatives);
        return modifiers.contains(Modifier.NEQ) ? new Condition.Not(condition) : condition;
    }

    private static List<?> nullable(@Nullable Object wanted) {
        var one = new ArrayList<@Nullable Object>();
        one.add(wanted);
        return one;
    }

    private void requireFitting() throws RuleException {
        long kinds = modifiers.stream().filter(ALONE::contains).count()
                + (modifiers.stream().anyMatch(WHERE::contains) ? 1 : 0);
        boolean isExpression = modifiers.contains(Modifier.RE);
        if (kinds > 1
                || modifiers.stream().filter(WHERE::contains).count() > 1
                || !isExpression && modifiers.stream().anyMatch(OF_EXPRESSIONS::contains)) {
            throw Yaml.malformed("'" + key + "' has modifiers that do not go together");
        }
    }

    private Condition one(@Nullable Object value) throws RuleException {
        if (modifiers.contains(Modifier.EXISTS)) {
            var missing = new Condition.Fits(field, new TextPattern.Missing());
            return truth(value) ? new Condition.Not(missing) : missing;
        }
        if (value == null) {
            return new Condition.Fits(field, new TextPattern.Missing());
        }
        String text = text(value);
        if (modifiers.contains(Modifier.FIELDREF)) {
            return new Condition.Same(field, field(category, text));
        }
        if (modifiers.contains(Modifier.RE)) {
            return fits(new TextPattern.Matches(expression(text)));
        }
        if (modifiers.contains(Modifier.CIDR)) {
            return fits(range(text));
        }
        for (Map.Entry<Modifier, Order> order : ORDERS.entrySet()) {
            if (modifiers.contains(order.getKey())) {
                return fits(new TextPattern.Compares(order.getValue(), number(text)));
            }
        }
        var forms = new ArrayList<Condition>();
        for (Wildcards form : forms(text)) {
            forms.add(fits(placed(form).pattern(modifiers.contains(Modifier.CASED))));
        }
        return Condition.any(forms);
    }

    private Condition fits(TextPattern pattern) {
        return new Condition.Fits(field, pattern);
    }

    private Wildcards placed(Wildcards text) {
        if (modifiers.contains(Modifier.CONTAINS)) {
            return text.inside();
        }
        if (modifiers.contains(Modifier.STARTSWITH)) {
            return text.atStart();
        }
        return modifiers.contains(Modifier.ENDSWITH) ? text.atEnd() : text;
    }

    /// The ways in which a text may be written, by the modifiers that say so.
    private List<Wildcards> forms(String text) throws RuleException {
        boolean isCoded = modifiers.contains(Modifier.BASE64) || modifiers.contains(Modifier.BASE64OFFSET);
        if (isCoded) {
            byte[] octets = text.getBytes(StandardCharsets.UTF_8);
            if (octets.length < CODED_MIN) {
                throw Yaml.malformed("'" + key + "' has '" + text + "', which is too short to be told in base64");
            }
            return (modifiers.contains(Modifier.BASE64)
                            ? List.of(Base64.getEncoder().encodeToString(octets))
                            : atOffsets(octets))
                    .stream().map(Wildcards::literal).toList();
        }
        if (modifiers.contains(Modifier.WINDASH)) {
            var forms = new LinkedHashSet<Wildcards>();
            for (String dash : DASHES) {
                forms.add(Wildcards.read(text.replaceAll("(?<![\\w-])[-/](?=\\w)", dash)));
            }
            return List.copyOf(forms);
        }
        return List.of(Wildcards.read(text));
    }

    /// What of a text's base64 is the same whatever stands around it, for each way in which it may begin in a group of
    /// three octets.
    private static List<String> atOffsets(byte[] octets) {
        int[] starts = {0, 2, 3};
        int[] ends = {0, 3, 2};
        var forms = new ArrayList<String>();
        for (int offset = 0; offset < 3; offset++) {
            var padded = new byte[offset + octets.length];
            System.arraycopy(octets, 0, padded, offset, octets.length);
            String coded = Base64.getEncoder().encodeToString(padded);
            forms.add(coded.substring(starts[offset], coded.length() - ends[padded.length % 3]));
        }
        return forms;
    }

    private Pattern expression(String text) throws RuleException {
        if (text.length() > EXPRESSION_MAX || text.contains("(?<") || text.contains("(?P")) {
            throw Yaml.unsupported("'" + key + "' has an expression with names of groups, or of more than "
                    + EXPRESSION_MAX + " characters");
        }
        String flags = OF_EXPRESSIONS.stream()
                .filter(modifiers::contains)
                .map(Modifier::word)
                .sorted()
                .collect(Collectors.joining());
        try {
            return Pattern.compile(flags.isEmpty() ? text : "(?" + flags + ")" + text);
        } catch (PatternSyntaxException e) {
            throw Yaml.unsupported("'" + key + "' has an expression that RE2 does not know (" + e.getDescription()
                    + "): expressions whose time may grow without bounds, such as ones that look ahead, are not used");
        }
    }

    private TextPattern range(String text) throws RuleException {
        try {
            return new TextPattern.Within(AddressRange.parse(text));
        } catch (IllegalArgumentException e) {
            throw Yaml.malformed("'" + key + "' has '" + text + "': " + e.getMessage());
        }
    }

    private BigDecimal number(String text) throws RuleException {
        if (TextPattern.Compares.isNumber(text)) {
            return new BigDecimal(text);
        } else {
            throw Yaml.malformed(
                    "'" + key + "' compares with a decimal number of at most 18 digits and 9 after the point, and '"
                            + text + "' is none");
        }
    }

    private boolean truth(@Nullable Object value) throws RuleException {
        if (value instanceof Boolean is) {
            return is;
        }
        throw Yaml.malformed("'" + key + "' is true or false");
    }

    private static String text(Object value) throws RuleException {
        return switch (value) {
            case String text when text.indexOf('\0') < 0 -> text;
            case String _ -> throw Yaml.malformed("a value has the character U+0000, which no event has");
            case Number number -> number.toString();
            case Boolean is -> is.toString();
            default -> throw Yaml.malformed("a value is a text or a number, not a list or a mapping");
        };
    }
}
