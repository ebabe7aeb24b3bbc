package blackbox.rules.sigma;

import blackbox.rules.condition.TextPattern;
import blackbox.rules.condition.TextPattern.Contains;
import blackbox.rules.condition.TextPattern.Ends;
import blackbox.rules.condition.TextPattern.Exactly;
import blackbox.rules.condition.TextPattern.Glob;
import blackbox.rules.condition.TextPattern.Glob.Literal;
import blackbox.rules.condition.TextPattern.Glob.Piece;
import blackbox.rules.condition.TextPattern.Glob.Wildcard;
import blackbox.rules.condition.TextPattern.Starts;
import java.util.ArrayList;
import java.util.List;

/// A text of a rule, in which `*` and `?` stand for other characters, unless there is a backslash before them. Two
/// backslashes are one; one before another character is itself.
record Wildcards(List<Piece> pieces) {
    Wildcards {
        pieces = List.copyOf(pieces);
    }

    static Wildcards read(String text) {
        var pieces = new ArrayList<Piece>();
        var literal = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            char next = i + 1 < text.length() ? text.charAt(i + 1) : ' ';
            if (c == '\\' && (next == '*' || next == '?' || next == '\\')) {
                literal.append(next);
                i++;
            } else if (c == '*' || c == '?') {
                flush(literal, pieces);
                if (c == '?' || pieces.isEmpty() || pieces.getLast() != Wildcard.ANY) {
                    pieces.add(c == '*' ? Wildcard.ANY : Wildcard.ONE);
                }
            } else {
                literal.append(c);
            }
        }
        flush(literal, pieces);
        return new Wildcards(pieces);
    }

    static Wildcards literal(String text) {
        return new Wildcards(text.isEmpty() ? List.of() : List.of(new Literal(text)));
    }

    private static void flush(StringBuilder literal, List<Piece> pieces) {
        if (!literal.isEmpty()) {
            pieces.add(new Literal(literal.toString()));
            literal.setLength(0);
        }
    }

    /// The same anywhere in a value.
    Wildcards inside() {
        return atStart().atEnd();
    }

    /// The same at the beginning of a value.
    Wildcards atStart() {
        var more = new ArrayList<>(pieces);
        if (more.isEmpty() || more.getLast() != Wildcard.ANY) {
            more.add(Wildcard.ANY);
        }
        return new Wildcards(more);
    }

    /// The same at the end of a value.
    Wildcards atEnd() {
        var more = new ArrayList<>(pieces);
        if (more.isEmpty() || more.getFirst() != Wildcard.ANY) {
            more.addFirst(Wildcard.ANY);
        }
        return new Wildcards(more);
    }

    TextPattern pattern(boolean cased) {
        boolean opens = !pieces.isEmpty() && pieces.getFirst() == Wildcard.ANY;
        boolean closes = pieces.size() > 1 && pieces.getLast() == Wildcard.ANY;
        List<Piece> within = pieces.subList(opens ? 1 : 0, pieces.size() - (closes ? 1 : 0));
        if (within.size() > 1 || within.size() == 1 && !(within.getFirst() instanceof Literal)) {
            return new Glob(pieces, cased);
        }
        String text = within.isEmpty() ? "" : ((Literal) within.getFirst()).text();
        if (opens) {
            return closes || within.isEmpty() ? new Contains(text, cased) : new Ends(text, cased);
        }
        return closes ? new Starts(text, cased) : new Exactly(text, cased);
    }
}
