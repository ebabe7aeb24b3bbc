package blackbox.calls.json;

/// Shortens the strings of a JSON text before it is parsed, since a parser holds a whole string in memory. All other
/// octets go through as they are.
///
/// A string is cut between characters, so that what is left is as valid as it was.
final class StringClipper {
    /// How many octets of a string go through. A character is at most 6 octets long (an escape with four digits), so
    /// more than
    /// [#CHARS_KEPT] are left of any string that was cut.
    static final int STRING_BYTES_MAX = 1 << 20;

    /// So many characters of a string are always left.
    static final int CHARS_KEPT = STRING_BYTES_MAX / 6;

    /// How long a number or a word may be. A parser holds these in memory, too.
    static final int BARE_BYTES_MAX = 1024;

    private int bareBytes;
    private boolean afterComma;
    private boolean closesAfterComma;
    private boolean inString;
    private boolean clipping;
    private boolean escaped;
    private int hexLeft;
    private int stringBytes;

    /// Whether the last octet made a number or word too long.
    boolean bareTooLong() {
        return bareBytes > BARE_BYTES_MAX;
    }

    /// Whether the last octet closes an object or list right after a comma. Jackson 2.21 accepts that, but only if
    /// what it is fed was divided between the two.
    boolean closesAfterComma() {
        return closesAfterComma;
    }

    /// Whether this octet goes through.
    boolean passes(byte octet) {
        if (!inString) {
            inString = octet == '"';
            stringBytes = 0;
            boolean space = " \t\r\n".indexOf(octet) >= 0;
            closesAfterComma = afterComma && (octet == '}' || octet == ']');
            afterComma = octet == ',' || afterComma && space;
            bareBytes = inString || space || ",:[]{}".indexOf(octet) >= 0 ? 0 : bareBytes + 1;
            return true;
        }
        if (!escaped && hexLeft == 0 && octet == '"') {
            inString = false;
            clipping = false;
            return true;
        }
        boolean between = !escaped && hexLeft == 0 && (octet & 0xc0) != 0x80;
        if (!clipping && between && stringBytes >= STRING_BYTES_MAX) {
            clipping = true;
        }
        if (escaped) {
            escaped = false;
            hexLeft = octet == 'u' ? 4 : 0;
        } else if (hexLeft > 0) {
            hexLeft--;
        } else {
            escaped = octet == '\\';
        }
        if (!clipping) {
            stringBytes++;
        }
        return !clipping;
    }
}
