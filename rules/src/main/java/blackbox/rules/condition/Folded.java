package blackbox.rules.condition;

/// Text in which the case of ASCII letters does not count. Of other letters it does: what is equal must not depend on
/// a version of Unicode, and the same must be equal in SQL.
public final class Folded {

    public static final String UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    public static final String LOWER = "abcdefghijklmnopqrstuvwxyz";

    private Folded() {}

    public static String of(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (isUpper(text.charAt(i))) {
                return from(text, i);
            }
        }
        return text;
    }

    private static String from(String text, int first) {
        char[] chars = text.toCharArray();
        for (int i = first; i < chars.length; i++) {
            if (isUpper(chars[i])) {
                chars[i] = (char) (chars[i] | 0x20);
            }
        }
        return new String(chars);
    }

    private static boolean isUpper(char c) {
        return c >= 'A' && c <= 'Z';
    }
}
