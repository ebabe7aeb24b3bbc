package blackbox.gateway.secret;

/// The readings of a place in a text in which octets may be quoted: by percent signs (also of percent signs, up to
/// three times), by backslashes as JSON and JavaScript have them (also doubled), and by character references of HTML.
final class Quoted {
    private static final int PERCENT_DEPTH_MAX = 3;
    private static final int BACKSLASHES_MAX = 8;
    private static final int REFERENCE_DIGITS_MAX = 7;
    private static final int HEX = 16;
    private static final String[] NAMES = {"amp;", "lt;", "gt;", "quot;", "apos;"};
    private static final String NAMED = "&<>\"'";

    private final byte[] text;
    private final int end;
    private final Reading reading;
    /// Whether more text could have given more readings.
    private boolean cut;

    /// Is told what a place may be read as.
    @FunctionalInterface
    interface Reading {
        /// @param octet what is quoted
        /// @param next where the quotation ends
        void is(int octet, int next);
    }

    private Quoted(byte[] text, int end, Reading reading) {
        this.text = text;
        this.end = end;
        this.reading = reading;
    }

    /// Whether a quotation may begin with this octet.
    static boolean begins(int octet) {
        return octet == '%' || octet == '\\' || octet == '&';
    }

    /// Tells all that is quoted at a place.
    ///
    /// @param end of what is known of the text
    /// @return whether more text could give more readings
    static boolean read(byte[] text, int at, int end, Reading reading) {
        var quoted = new Quoted(text, end, reading);
        switch (text[at]) {
            case '%' -> quoted.percent(at + 1);
            case '\\' -> quoted.backslash(at);
            case '&' -> quoted.reference(at + 1);
            default -> {}
        }
        return quoted.cut;
    }

    private void percent(int from) {
        int at = from;
        for (int depth = 0; depth <= PERCENT_DEPTH_MAX; depth++) {
            digits(at, 2);
            if (at + 2 > end || text[at] != '2' || text[at + 1] != '5') {
                return;
            }
            at += 2;
        }
    }

    /// An octet in two hexadecimal digits.
    private void digits(int at, int count) {
        int value = 0;
        for (int digit = 0; digit < count; digit++) {
            if (at + digit >= end) {
                cut = true;
                return;
            }
            int known = Character.digit(text[at + digit], HEX);
            if (known < 0) {
                return;
            }
            value = value * HEX + known;
        }
        if (value <= 0xff) {
            reading.is(value, at + count);
        }
    }

    private void backslash(int from) {
        int at = from;
        while (at < end && text[at] == '\\' && at - from < BACKSLASHES_MAX) {
            at++;
            int count = at - from;
            if (Integer.bitCount(count) == 1 && count > 1) {
                reading.is('\\', at);
            }
        }
        if (at == end) {
            cut = true;
            return;
        }
        switch (text[at]) {
            case '/', '"', '\'' -> reading.is(text[at], at + 1);
            case 'u' -> digits(at + 1, 4);
            case 'x' -> digits(at + 1, 2);
            default -> {}
        }
    }

    private void reference(int from) {
        if (from == end) {
            cut = true;
        } else if (text[from] == '#') {
            number(from + 1);
        } else {
            for (int name = 0; name < NAMES.length; name++) {
                named(from, NAMES[name], NAMED.charAt(name));
            }
        }
    }

    private void named(int from, String name, char octet) {
        for (int at = 0; at < name.length(); at++) {
            if (from + at >= end) {
                cut = true;
                return;
            }
            if (text[from + at] != name.charAt(at)) {
                return;
            }
        }
        reading.is(octet, from + name.length());
    }

    private void number(int from) {
        boolean hex = from < end && (text[from] == 'x' || text[from] == 'X');
        int first = hex ? from + 1 : from;
        int value = 0;
        for (int at = first; at <= first + REFERENCE_DIGITS_MAX; at++) {
            if (at >= end) {
                cut = true;
                return;
            }
            int digit = Character.digit(text[at], hex ? HEX : 10);
            if (digit < 0) {
                if (text[at] == ';' && at > first && value <= 0xff) {
                    reading.is(value, at + 1);
                }
                return;
            }
            value = value * (hex ? HEX : 10) + digit;
        }
    }
}
