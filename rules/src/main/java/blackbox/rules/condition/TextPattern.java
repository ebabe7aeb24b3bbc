package blackbox.rules.condition;

import blackbox.policy.host.Address;
import blackbox.policy.host.AddressRange;
import com.google.re2j.Pattern;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a rule wants of a field's value.
public sealed interface TextPattern {

    /// Whether a value fits. A pattern that does not ask for the case of letters is asked with the folded value.
    ///
    /// @param text the value, as it is or [folded][Folded#of], see [#cased]
    boolean fits(String text);

    /// Whether the case of ASCII letters counts.
    boolean cased();

    /// The whole value.
    record Exactly(String wanted, boolean cased) implements TextPattern {
        public Exactly {
            wanted = cased ? wanted : Folded.of(wanted);
        }

        @Override
        public boolean fits(String text) {
            return text.equals(wanted);
        }
    }

    record Contains(String wanted, boolean cased) implements TextPattern {
        public Contains {
            wanted = cased ? wanted : Folded.of(wanted);
        }

        @Override
        public boolean fits(String text) {
            return text.contains(wanted);
        }
    }

    record Starts(String wanted, boolean cased) implements TextPattern {
        public Starts {
            wanted = cased ? wanted : Folded.of(wanted);
        }

        @Override
        public boolean fits(String text) {
            return text.startsWith(wanted);
        }
    }

    record Ends(String wanted, boolean cased) implements TextPattern {
        public Ends {
            wanted = cased ? wanted : Folded.of(wanted);
        }

        @Override
        public boolean fits(String text) {
            return text.endsWith(wanted);
        }
    }

    /// The whole value, with `*` (any characters, or none) and `?` (one character, a code point of Unicode).
    record Glob(List<Piece> pieces, boolean cased) implements TextPattern {

        /// One thing after the other.
        public sealed interface Piece {}

        public record Literal(String text) implements Piece {}

        public enum Wildcard implements Piece {
            ANY,
            ONE
        }

        public Glob {
            boolean asIs = cased;
            pieces = pieces.stream()
                    .map(piece -> piece instanceof Literal(String text) && !asIs ? new Literal(Folded.of(text)) : piece)
                    .toList();
        }

        /// Takes as long as the text times what stands between two `*`, whatever the pattern: after a `*` the first
        /// place that fits is as good as any later one.
        @Override
        public boolean fits(String text) {
            int at = 0;
            int piece = 0;
            int retryPiece = -1;
            int retryAt = 0;
            while (true) {
                if (piece == pieces.size()) {
                    if (at == text.length()) {
                        return true;
                    }
                } else if (pieces.get(piece) == Wildcard.ANY) {
                    retryPiece = ++piece;
                    retryAt = at;
                    continue;
                } else {
                    int next = after(pieces.get(piece), text, at);
                    if (next >= 0) {
                        at = next;
                        piece++;
                        continue;
                    }
                }
                if (retryPiece < 0 || retryAt >= text.length()) {
                    return false;
                }
                retryAt = text.offsetByCodePoints(retryAt, 1);
                at = retryAt;
                piece = retryPiece;
            }
        }

        /// Where it goes on after a piece; -1 if the piece is not there.
        private static int after(Piece piece, String text, int at) {
            return switch (piece) {
                case Literal(String wanted) -> text.startsWith(wanted, at) ? at + wanted.length() : -1;
                case Wildcard _ -> at < text.length() ? text.offsetByCodePoints(at, 1) : -1;
            };
        }
    }

    /// A regular expression in RE2's syntax, which finds its place anywhere in the value.
    record Matches(Pattern pattern) implements TextPattern {
        @Override
        public boolean fits(String text) {
            return pattern.matcher(text).find();
        }

        @Override
        public boolean cased() {
            return true;
        }
    }

    /// An IP address within a range.
    record Within(AddressRange range) implements TextPattern {
        @Override
        public boolean fits(String text) {
            Address address = Address.parse(text);
            return address != null && range.contains(address);
        }

        @Override
        public boolean cased() {
            return true;
        }
    }

    /// A number; a value that is none fits nothing.
    record Compares(Order order, BigDecimal limit) implements TextPattern {

        /// On which side of the limit.
        public enum Order {
            LT("<"),
            LTE("<="),
            GT(">"),
            GTE(">=");

            private final String sign;

            Order(String sign) {
                this.sign = sign;
            }

            public String sign() {
                return sign;
            }
        }

        @Override
        public boolean fits(String text) {
            BigDecimal value = number(text);
            if (value == null) {
                return false;
            }
            int side = value.compareTo(limit);
            return switch (order) {
                case LT -> side < 0;
                case LTE -> side <= 0;
                case GT -> side > 0;
                case GTE -> side >= 0;
            };
        }

        @Override
        public boolean cased() {
            return true;
        }

        /// Digits with a sign and at most one point, 38 octets at most, so that SQL reads the same.
        private static @Nullable BigDecimal number(String text) {
            return isNumber(text) ? new BigDecimal(text) : null;
        }

        /// Whether a text is such a number.
        public static boolean isNumber(String text) {
            return DECIMAL.matcher(text).matches();
        }

        private static final Pattern DECIMAL = Pattern.compile("-?[0-9]{1,18}(\\.[0-9]{1,9})?");
    }

    /// There is no value, or an empty one.
    record Missing() implements TextPattern {
        @Override
        public boolean fits(String text) {
            return text.isEmpty();
        }

        @Override
        public boolean cased() {
            return true;
        }
    }
}
