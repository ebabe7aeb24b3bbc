package blackbox.replay.divergence.align;

import blackbox.replay.divergence.strand.Token;
import blackbox.replay.divergence.strand.Token.Ending;
import blackbox.replay.divergence.strand.Token.Reach;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A place in a strand where the two sides differ: what only the recorded side has, and what only the other
/// side has.
///
/// @param expected the tokens, or the first of them if memory is short
/// @param expectedSpan how many there were
/// @param unkept how far the tokens reach that were not kept
/// @param agreed the last tokens that agreed before it, or null where it is at the strand's beginning
/// @param nextExpected what the recorded side has after it, or null
/// @param nextActual what the other side has after it, or null
public record Edit(
        List<Token> expected,
        List<Token> actual,
        int expectedSpan,
        int actualSpan,
        Reach unkept,
        @Nullable Agreed agreed,
        @Nullable Token nextExpected,
        @Nullable Token nextActual) {

    /// Two tokens that agreed.
    public record Agreed(Token expected, Token actual) {}

    /// What the recorded side has at this place: what is missing, or else what comes next.
    @Nullable
    public Token hereExpected() {
        return expected.isEmpty() ? nextExpected : expected.getFirst();
    }

    @Nullable
    public Token hereActual() {
        return actual.isEmpty() ? nextActual : actual.getFirst();
    }

    /// The farthest that anything reaches which only one side has here.
    ///
    /// Whether a program's last octets went into its pipe before the reader closed it is a race, which the
    /// program loses by SIGPIPE and wins by its end: the two ends are one. What its parent makes of it is its
    /// parent's deed.
    Reach reach() {
        Edit raced = withoutRace();
        Reach of = reach(raced.expected, raced.actual);
        return of.compareTo(unkept) > 0 ? of : unkept;
    }

    /// The same without two ends of which one is by SIGPIPE and the other is not.
    public Edit withoutRace() {
        boolean raced = isEnding(expected, Ending.UNREAD) && isEnding(actual, Ending.DONE)
                || isEnding(expected, Ending.DONE) && isEnding(actual, Ending.UNREAD);
        return raced ? with(withoutEnding(expected), withoutEnding(actual)) : this;
    }

    /// Whether a process ended like that among these, and none otherwise.
    private static boolean isEnding(List<Token> tokens, Ending ending) {
        List<Token> ends = tokens.stream().filter(Edit::isEnd).toList();
        return ends.size() == 1 && ends.getFirst().ending() == ending;
    }

    private static boolean isEnd(Token token) {
        return token.sort() == Token.Sort.PROCESS_END;
    }

    private static List<Token> withoutEnding(List<Token> tokens) {
        return tokens.stream().filter(token -> !isEnd(token)).toList();
    }

    /// The farthest that any of these tokens reaches.
    static Reach reach(List<Token> expected, List<Token> actual) {
        return Stream.concat(expected.stream(), actual.stream())
                .map(Token::reach)
                .max(Comparator.naturalOrder())
                .orElse(Reach.PATH);
    }

    /// Whether it has all tokens of the place.
    boolean isWhole() {
        return expected.size() == expectedSpan && actual.size() == actualSpan;
    }

    /// Whether both are parts of what differs at one place.
    boolean isOfSamePlace(Edit other) {
        return Objects.equals(agreed, other.agreed)
                && Objects.equals(nextExpected, other.nextExpected)
                && Objects.equals(nextActual, other.nextActual);
    }

    /// Both parts of what differs at one place.
    Edit and(Edit other) {
        return with(inOrder(expected, other.expected), inOrder(actual, other.actual));
    }

    private static List<Token> inOrder(List<Token> some, List<Token> others) {
        return Stream.concat(some.stream(), others.stream())
                .sorted(Comparator.comparingLong(Token::ordinal))
                .toList();
    }

    Edit with(List<Token> otherExpected, List<Token> otherActual) {
        return new Edit(otherExpected, otherActual, expectedSpan, actualSpan, unkept, agreed, nextExpected, nextActual);
    }
}
