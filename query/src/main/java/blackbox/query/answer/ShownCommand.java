package blackbox.query.answer;

import java.util.List;

/// A command on a line of limited length, so that what it does stays readable. Coding agents start `bash -c` with a
/// script that reads their settings first and notes the directory afterwards; what was asked for is the quoted text
/// after `eval`. The result is not escaped.
public final class ShownCommand {

    private static final String LEFT_OUT = "…";
    private static final String EVAL = "eval ";

    private ShownCommand() {}

    /// The program and its arguments in at most `max` characters. If all of it does not fit, it is the program and
    /// what it evaluates, else the beginning and the end.
    public static String of(List<String> argv, int max) {
        String whole = String.join(" ", argv);
        if (whole.length() <= max) {
            return whole;
        }
        String evaluated = argv.size() < 3 || !argv.get(1).endsWith("c") ? "" : evaluated(argv.get(2));
        if (evaluated.isEmpty()) {
            return middle(whole, max);
        }
        String start = argv.get(0) + " " + argv.get(1) + " " + LEFT_OUT + " ";
        return start.length() > max / 2
                ? middle(evaluated, max)
                : start + middle(evaluated, max - start.length() - 2) + " " + LEFT_OUT;
    }

    /// At most `max` characters of a text, with an ellipsis at its end if something was cut.
    static String cut(String text, int max) {
        return text.length() <= max ? text : text.substring(0, max - 1) + LEFT_OUT;
    }

    private static String middle(String text, int max) {
        if (text.length() <= max) {
            return text;
        }
        int end = (max - 1) / 3;
        return text.substring(0, max - 1 - end) + LEFT_OUT + text.substring(text.length() - end);
    }

    /// `eval` and the quoted text after it, empty if the script has none.
    private static String evaluated(String script) {
        int from = script.startsWith(EVAL) ? 0 : script.indexOf(" " + EVAL) + 1;
        int open = from + EVAL.length();
        if (from == 0 && !script.startsWith(EVAL) || open >= script.length() || !isQuote(script.charAt(open))) {
            return "";
        }
        return script.substring(from, close(script, open));
    }

    private static boolean isQuote(char c) {
        return c == '\'' || c == '"';
    }

    /// Where the word that begins with a quotation mark ends; a word can be of several quoted parts, as `'it'\''s'` is.
    private static int close(String script, int open) {
        char quote = 0;
        for (int at = open; at < script.length(); at++) {
            char c = script.charAt(at);
            if (c == '\\' && quote != '\'') {
                at++;
            } else if (quote != 0) {
                quote = c == quote ? 0 : quote;
            } else if (isQuote(c)) {
                quote = c;
            } else if (Character.isWhitespace(c) || c == ';') {
                return at;
            }
        }
        return script.length();
    }
}
