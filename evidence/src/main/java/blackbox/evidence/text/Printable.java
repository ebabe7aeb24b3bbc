package blackbox.evidence.text;

/// Makes text from a guest safe for a terminal: control characters and other unprintable ones become hex
/// escapes.
public final class Printable {

    private Printable() {}

    public static String of(String text) {
        int plain = 0;
        while (plain < text.length() && isPlain(text.charAt(plain))) {
            plain++;
        }
        if (plain == text.length()) {
            return text;
        }
        var safe = new StringBuilder(text.length() + 16).append(text, 0, plain);
        for (int i = plain; i < text.length(); i++) {
            char c = text.charAt(i);
            if (isPlain(c)) {
                safe.append(c);
            } else {
                safe.append(c < 0x100 ? "\\x%02x".formatted((int) c) : "\\u%04x".formatted((int) c));
            }
        }
        return safe.toString();
    }

    /// Cut to `max` characters, with an ellipsis if something was cut.
    public static String of(String text, int max) {
        return of(text.length() <= max ? text : text.substring(0, max - 1) + "…");
    }

    private static boolean isPlain(char c) {
        if (c < 0x7f) {
            return c >= ' ' && c != '\\';
        }
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.UNASSIGNED -> false;
            default -> true;
        };
    }
}
