package blackbox.replay.compare;

/// Names that have numbers in them.
final class NumberedNames {
    private NumberedNames() {}

    /// Whether two names have equal letters and numbers at the same places, of which there is one.
    static boolean areSameButForNumbers(byte[] one, byte[] other) {
        int i = 0;
        int j = 0;
        boolean numbers = false;
        while (i < one.length && j < other.length) {
            if (isDigit(one[i]) && isDigit(other[j])) {
                numbers = true;
                i = afterNumber(one, i);
                j = afterNumber(other, j);
            } else if (one[i++] != other[j++]) {
                return false;
            }
        }
        return numbers && i == one.length && j == other.length;
    }

    private static int afterNumber(byte[] name, int from) {
        int at = from;
        while (at < name.length && isDigit(name[at])) {
            at++;
        }
        return at;
    }

    private static boolean isDigit(byte octet) {
        return octet >= '0' && octet <= '9';
    }
}
