package blackbox.query.answer;

import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A command on a line of limited length, so that what it does stays readable. The start of a script that a shell
/// is given is always shown, for whoever wrote it could hide what it does behind what follows. Coding agents start
/// `bash -c` with a script that reads their settings first and notes the directory afterwards; what was asked for
/// is the quoted text after `eval`, which is shown as far as there is room. `…(123)…` says how many characters were
/// left out. The result is not escaped.
public final class ShownCommand {

    private static final String LEFT_OUT = "…";
    private static final String EVAL = "eval ";
    private static final Pattern SCRIPT_FOLLOWS = Pattern.compile("-[a-zA-Z]*c");

    /// Of less than this of what is evaluated nobody would learn anything.
    private static final int EVALUATED_CHARS_MIN = 24;

    /// How much of a script's start is shown even if something that it evaluates is, too.
    private static final int HEAD_CHARS_MIN = 20;

    private ShownCommand() {}

    /// The program and its arguments in at most `max` characters. If all of it does not fit, it is the beginning
    /// and the end, and between them what a script evaluates.
    public static String of(List<String> argv, int max) {
        String whole = String.join(" ", argv);
        if (whole.length() <= max) {
            return whole;
        }
        int at = script(argv);
        if (at < 0) {
            return middle(whole, max);
        }
        // A program's path may be long.
        String start = middle(String.join(" ", argv.subList(0, at)), max / 3) + " ";
        String rest = String.join(" ", argv.subList(at, argv.size()));
        Span evaluated = evaluated(argv.get(at));
        return start
                + (evaluated == null
                        ? middle(rest, max - start.length())
                        : around(rest, evaluated, max - start.length()));
    }

    /// Which argument is a script, or -1: the one after the first `-c`, which may be among other letters.
    private static int script(List<String> argv) {
        for (int i = 1; i < argv.size() - 1; i++) {
            if (SCRIPT_FOLLOWS.matcher(argv.get(i)).matches()) {
                return i + 1;
            }
        }
        return -1;
    }

    /// At most `max` characters of a text, with an ellipsis at its end if something was cut.
    static String cut(String text, int max) {
        return text.length() <= max ? text : head(text, max - 1) + LEFT_OUT;
    }

    /// The beginning and the end.
    private static String middle(String text, int max) {
        if (text.length() <= max) {
            return text;
        }
        int room = max - leftOut(text.length()).length();
        if (room < 2) {
            return cut(text, max);
        }
        String tail = tail(text, room / 3);
        String head = head(text, room - tail.length());
        return head + leftOut(text.length() - head.length() - tail.length()) + tail;
    }

    /// The beginning, what is in the span, and the end.
    private static String around(String text, Span span, int max) {
        if (text.length() <= max) {
            return text;
        }
        int after = text.length() - span.end;
        int room = max - 2 * leftOut(text.length()).length();
        int headMin = Math.min(span.begin, Math.max(HEAD_CHARS_MIN, max / 4));
        int tailMin = Math.min(after, max / 8);
        if (room - headMin - tailMin < EVALUATED_CHARS_MIN) {
            return middle(text, max);
        }
        String evaluated = middle(text.substring(span.begin, span.end), room - headMin - tailMin);
        String head = head(text, Math.min(span.begin, room - evaluated.length() - tailMin));
        String tail = tail(text, Math.min(after, room - evaluated.length() - head.length()));
        return head + leftOut(span.begin - head.length()) + evaluated + leftOut(after - tail.length()) + tail;
    }

    private static String leftOut(int chars) {
        return chars == 0 ? "" : LEFT_OUT + "(" + chars + ")" + LEFT_OUT;
    }

    /// At most `chars` from the beginning; no half of a pair of surrogates.
    private static String head(String text, int chars) {
        int end = chars > 0 && Character.isHighSurrogate(text.charAt(chars - 1)) ? chars - 1 : chars;
        return text.substring(0, end);
    }

    private static String tail(String text, int chars) {
        int begin = text.length() - chars;
        return text.substring(chars > 0 && Character.isLowSurrogate(text.charAt(begin)) ? begin + 1 : begin);
    }

    /// Characters of a text.
    private record Span(int begin, int end) {}

    /// `eval` and the quoted text after it, null if the script has none.
    private static @Nullable Span evaluated(String script) {
        int from = script.startsWith(EVAL) ? 0 : script.indexOf(" " + EVAL) + 1;
        int open = from + EVAL.length();
        if (from == 0 && !script.startsWith(EVAL) || open >= script.length() || !isQuote(script.charAt(open))) {
            return null;
        }
        return new Span(from, close(script, open));
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
