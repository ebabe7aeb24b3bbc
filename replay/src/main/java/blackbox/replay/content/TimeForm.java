package blackbox.replay.content;

/// The forms in which programs print times, as far as they are known here. Where a form has no zone, or may go
/// without, such a time is UTC, which is what guests have.
///
/// In a pattern each letter is a field, and all else is itself: `Y` a year of 4 digits; `n` a month, `d` a day, `H`
/// an hour, `M` a minute, `S` a second, each of 2 digits; `e` a day of 1 or 2; `b` `Jan` to `Dec`, `a` `Mon` to
/// `Sun`; `f` maybe a fraction; `F` a fraction; `x` maybe milliseconds, after the sign that is before the second;
/// `p` maybe ` AM` or ` PM`; `z` maybe a zone; `o` an offset; `u` ` UTC` or ` GMT`; `Z` one of both; `0`, `3`, `6`,
/// `9` seconds since 1970 and so many decimal places, without a point, in the 10 and more digits that they have from
/// 2001 on.
enum TimeForm {
    /// RFC 3339: `2026-11-25T12:11:37Z`.
    ISO("Y-n-dTH:M:Sfz"),
    /// ISO 8601 with a space, as in logs: `2026-11-25 12:11:37.123456`, `2026-11-25 12:11:37 +0000`.
    ISO_SPACE("Y-n-d H:M:Sfpz"),
    ISO_MINUTES("Y-n-dTH:Mz"),
    ISO_SPACE_MINUTES("Y-n-d H:Mz"),
    /// `20261125T121137Z`.
    COMPACT_T("YndTHMSz"),
    /// `20261125121137`.
    COMPACT("YndHMS"),
    /// `20261125-121137`.
    COMPACT_HYPHEN("Ynd-HMS"),
    /// `20261125_121137`.
    COMPACT_UNDERSCORE("Ynd_HMS"),
    /// ISO 8601 in names of files: `2026-11-25T12_11_37_123Z`.
    NAME_UNDERSCORE("Y-n-dTH_M_Sxz"),
    /// `2026-11-25T12-11-37-123Z`.
    NAME_HYPHEN("Y-n-dTH-M-Sxz"),
    /// `2026-11-25_12-11-37`.
    NAME_UNDERSCORE_HYPHEN("Y-n-d_H-M-S"),
    /// `2026-11-25-12-11-37`.
    NAME_HYPHENS("Y-n-d-H-M-S"),
    /// date(1) in the locale C, and in en_US: `Wed Nov 25 12:11:37 UTC 2026`, `Wed Nov 25 12:11:37 PM UTC 2026`.
    DATE("a b e H:M:Spu Y"),
    /// ctime(3): `Wed Nov 25 12:11:37 2026`.
    CTIME("a b e H:M:S Y"),
    /// `Wed Nov 25 12:11:37 2026 +0000`.
    GIT("a b e H:M:S Yo"),
    /// RFC 5322 and HTTP: `Wed, 25 Nov 2026 12:11:37 GMT`.
    RFC_5322("a, e b Y H:M:SZ"),
    RFC_5322_NO_WEEKDAY("e b Y H:M:SZ"),
    /// `Nov 25 12:11:37`.
    SYSLOG("b e H:M:Sf"),
    /// `ls -l`: `Nov 25 12:11`.
    LS("b e H:M"),
    CLOCK("H:M:Sfpz"),
    UNIX_SECONDS("0"),
    UNIX_SECONDS_FRACTION("0F"),
    UNIX_MILLISECONDS("3"),
    UNIX_MICROSECONDS("6"),
    UNIX_NANOSECONDS("9");

    private final String pattern;

    TimeForm(String pattern) {
        this.pattern = pattern;
    }

    String pattern() {
        return pattern;
    }

    /// Whether it begins with the name of a month or a day of the week; all others begin with a digit.
    boolean beginsWithName() {
        char first = pattern.charAt(0);
        return first == 'a' || first == 'b';
    }
}
