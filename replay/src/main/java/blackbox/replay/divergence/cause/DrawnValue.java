package blackbox.replay.divergence.cause;

import java.util.regex.Pattern;

/// Whether two texts differ first in values of a form in which random numbers are written, and digests are not: a UUID
/// of version 4, letters and digits in no order, many digits.
final class DrawnValue {
    private static final Pattern UUID =
            Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}");
    private static final Pattern HEX = Pattern.compile("[0-9a-f]+|[0-9A-F]+");
    private static final Pattern DIGITS = Pattern.compile("[0-9]+");
    private static final Pattern MIXED = Pattern.compile("(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z])[0-9A-Za-z]+");
    private static final int HEX_MIN = 13;
    private static final int DIGITS_MIN = 16;
    private static final int MIXED_MIN = 8;

    private DrawnValue() {}

    /// Whether the words at the first place where they differ are such values, and have little in common.
    static boolean differsIn(String one, String other) {
        return differsFrom(one, other, 0);
    }

    /// The same at the first such place from one on.
    static boolean differsFrom(String one, String other, int place) {
        int at = place;
        int end = Math.min(one.length(), other.length());
        while (at < end && one.charAt(at) == other.charAt(at)) {
            at++;
        }
        if (isInUuid(one, at) && isInUuid(other, at)) {
            return true;
        }
        String word = around(one, at);
        String otherWord = around(other, at);
        return isDrawn(word) && isDrawn(otherWord) && isOfSameForm(word, otherWord) && isUnlike(word, otherWord);
    }

    private static boolean isInUuid(String text, int at) {
        return UUID.matcher(text).results().anyMatch(found -> found.start() <= at && at < found.end());
    }

    /// The word that goes across a place.
    private static String around(String text, int at) {
        int from = Math.min(at, text.length());
        int to = from;
        while (from > 0 && isOfWord(text.charAt(from - 1))) {
            from--;
        }
        while (to < text.length() && isOfWord(text.charAt(to))) {
            to++;
        }
        return text.substring(from, to);
    }

    private static boolean isOfWord(char letter) {
        return letter < 128 && Character.isLetterOrDigit(letter);
    }

    private static boolean isDrawn(String word) {
        if (DIGITS.matcher(word).matches()) {
            return word.length() >= DIGITS_MIN;
        }
        if (HEX.matcher(word).matches()) {
            return word.length() >= HEX_MIN && !isOfDigest(word.length());
        }
        return word.length() >= MIXED_MIN && MIXED.matcher(word).matches();
    }

    /// MD5, SHA-1, SHA-256, SHA-512, and git's files of objects: what differs in these may be what was digested.
    private static boolean isOfDigest(int length) {
        return length == 32 || length == 38 || length == 40 || length == 62 || length == 64 || length == 128;
    }

    private static boolean isOfSameForm(String one, String other) {
        boolean digits = DIGITS.matcher(one).matches() && DIGITS.matcher(other).matches();
        return one.length() == other.length() || digits && Math.abs(one.length() - other.length()) <= 2;
    }

    /// Counters and times have their beginnings in common.
    private static boolean isUnlike(String one, String other) {
        int same = 0;
        int length = Math.min(one.length(), other.length());
        for (int i = 0; i < length; i++) {
            same += one.charAt(i) == other.charAt(i) ? 1 : 0;
        }
        return 2 * same < length && one.charAt(0) != other.charAt(0);
    }
}
