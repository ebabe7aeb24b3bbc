package blackbox.rules.sigma;

import blackbox.rules.RuleException;
import blackbox.rules.condition.Condition;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The condition over a rule's searches: `selection and not 1 of filter_*`.
final class Expression {
    private static final Pattern WORD = Pattern.compile("\\s*([()|]|[^\\s()|]+)");
    private static final int DEPTH_MAX = 64;

    private final Map<String, Condition> searches;
    private final List<String> words = new ArrayList<>();
    private final String text;
    private int at;
    private int depth;

    private Expression(Map<String, Condition> searches, String text) {
        this.searches = searches;
        this.text = text;
        Matcher word = WORD.matcher(text);
        while (word.lookingAt()) {
            words.add(word.group(1));
            word.region(word.end(), text.length());
        }
    }

    static Condition read(Map<String, Condition> searches, String text) throws RuleException {
        var expression = new Expression(searches, text);
        if (expression.words.contains("|")) {
            throw Yaml.unsupported(
                    "its condition counts ('|'), as old rules do: write a rule with 'correlation' over this one");
        }
        Condition condition = expression.any();
        if (expression.at < expression.words.size()) {
            throw expression.wrong("'" + expression.words.get(expression.at) + "' is more than it can be read with");
        }
        return condition;
    }

    private Condition any() throws RuleException {
        var parts = new ArrayList<Condition>();
        do {
            parts.add(all());
        } while (took("or"));
        return Condition.any(parts);
    }

    private Condition all() throws RuleException {
        var parts = new ArrayList<Condition>();
        do {
            parts.add(one());
        } while (took("and"));
        return Condition.all(parts);
    }

    private Condition one() throws RuleException {
        if (++depth > DEPTH_MAX) {
            throw wrong("it is nested deeper than " + DEPTH_MAX);
        }
        try {
            if (took("not")) {
                return new Condition.Not(one());
            }
            if (took("(")) {
                Condition inner = any();
                if (!took(")")) {
                    throw wrong("a ) is missing");
                }
                return inner;
            }
            String word = next();
            if (at < words.size() && words.get(at).equals("of")) {
                at++;
                return of(word, next());
            }
            Condition search = searches.get(word);
            if (search == null) {
                throw wrong("there is no search '" + word + "' in the rule");
            }
            return search;
        } finally {
            depth--;
        }
    }

    private Condition of(String count, String pattern) throws RuleException {
        var named = new ArrayList<Condition>();
        for (Map.Entry<String, Condition> search : searches.entrySet()) {
            boolean fits = pattern.equals("them")
                    ? !search.getKey().startsWith("_")
                    : Wildcards.read(pattern).pattern(true).fits(search.getKey());
            if (fits) {
                named.add(search.getValue());
            }
        }
        if (named.isEmpty()) {
            throw wrong("there is no search '" + pattern + "' in the rule");
        }
        return switch (count) {
            case "1", "any" -> Condition.any(named);
            case "all" -> Condition.all(named);
            default -> throw wrong("'" + count + " of' is not known: there are '1 of', 'any of' and 'all of'");
        };
    }

    private String next() throws RuleException {
        if (at == words.size()) {
            throw wrong("it ends too early");
        }
        return words.get(at++);
    }

    private boolean took(String word) {
        boolean isNext = at < words.size() && words.get(at).equals(word);
        if (isNext) {
            at++;
        }
        return isNext;
    }

    private RuleException wrong(String why) {
        return Yaml.malformed("its condition '" + text + "' cannot be read: " + why);
    }
}
