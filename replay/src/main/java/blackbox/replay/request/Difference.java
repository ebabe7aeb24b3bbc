package blackbox.replay.request;

/// Where a request differs from the recorded one, or what was printed, with some octets of either around that
/// place. They may hold passwords, so they are part of no event and no verdict.
///
/// @param at the first octet that differs, counted from 0
/// @param from the first one of those shown, at most [#BEFORE_MAX] before it
/// @param recorded at most [#SHOWN_MAX] octets of the recorded side, each a character of ISO 8859-1
/// @param replayed the same of the replayed one, as far as it had arrived
public record Difference(long at, long from, String recorded, String replayed) {
    /// How many octets of each side are shown.
    public static final int SHOWN_MAX = 200;

    /// How many of them are before the difference.
    public static final int BEFORE_MAX = 40;

    public Difference {
        if (from < 0 || at < from || recorded.length() > SHOWN_MAX || replayed.length() > SHOWN_MAX) {
            throw new IllegalArgumentException("octets from " + from + " on do not show the difference at " + at);
        }
    }

    /// Octets for a terminal: ASCII as it is, all others as `\xHH`.
    public static String printable(String octets) {
        var shown = new StringBuilder();
        for (int i = 0; i < octets.length(); i++) {
            char octet = octets.charAt(i);
            boolean plain = octet >= ' ' && octet < 0x7f && octet != '\\';
            shown.append(plain ? String.valueOf(octet) : "\\x%02x".formatted((int) octet));
        }
        return shown.toString();
    }
}
