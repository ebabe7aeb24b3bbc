package blackbox.query.why;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The words of a POSIX shell's command line, as far as no shell is needed to know them: quotation marks
/// and backslashes are taken away, nothing is expanded.
final class ShellWords {

    private static final String SPECIAL = "|&;<>()$`*?[]{}~#!\n";
    private static final String ESCAPED_IN_QUOTES = "$`\"\\\n";

    private final String text;
    private int at;

    private ShellWords(String text, int at) {
        this.text = text;
        this.at = at;
    }

    /// A simple command's words, or null if it is none: it has operators, expansions or assignments before
    /// it.
    static @Nullable List<String> simple(String command) {
        var reader = new ShellWords(command, 0);
        var words = new ArrayList<String>();
        while (reader.skipBlanks()) {
            String word = reader.word(true);
            if (word == null || words.isEmpty() && word.indexOf('=') > 0) {
                return null;
            }
            words.add(word);
        }
        return words;
    }

    /// The word that begins at `from`, up to the next blank or operator outside of quotation marks; null if
    /// a quotation mark is not closed.
    static @Nullable String word(String text, int from) {
        return new ShellWords(text, from).word(false);
    }

    private boolean skipBlanks() {
        while (at < text.length() && (text.charAt(at) == ' ' || text.charAt(at) == '\t')) {
            at++;
        }
        return at < text.length();
    }

    /// @param strict whether what a shell would expand makes it null
    private @Nullable String word(boolean strict) {
        var word = new StringBuilder();
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '\'') {
                int close = text.indexOf('\'', at);
                if (close < 0) {
                    return null;
                }
                word.append(text, at, close);
                at = close + 1;
            } else if (c == '"') {
                if (!quoted(word, strict)) {
                    return null;
                }
            } else if (c == '\\' && at < text.length()) {
                word.append(text.charAt(at++));
            } else if (c == ' ' || c == '\t') {
                return word.toString();
            } else if (SPECIAL.indexOf(c) >= 0 && strict) {
                return null;
            } else if (c == ';' || c == '\n' || c == '|' || c == '&') {
                return word.toString();
            } else {
                word.append(c);
            }
        }
        return word.toString();
    }

    /// Agents that quote commands put a backslash before `!` too, which only an interactive shell needs.
    private static boolean isEscaped(char c, boolean strict) {
        return ESCAPED_IN_QUOTES.indexOf(c) >= 0 || !strict && c == '!';
    }

    private boolean quoted(StringBuilder word, boolean strict) {
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') {
                return true;
            }
            if (strict && (c == '$' || c == '`')) {
                return false;
            }
            if (c == '\\' && at < text.length() && isEscaped(text.charAt(at), strict)) {
                word.append(text.charAt(at++));
            } else {
                word.append(c);
            }
        }
        return false;
    }
}
