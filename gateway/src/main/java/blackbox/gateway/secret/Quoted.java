package blackbox.gateway.secret;

/// The readings of a place in a text in which octets may be quoted: by percent signs, by backslashes as JSON and
/// JavaScript have them, and by character references of HTML. Each octet of a quotation may be quoted itself, up to
/// three quotations in one another; percent signs of percent signs count once, up to three of them. Owned by one
/// thread.
final class Quoted {
    private static final int DEPTH_MAX = 3;
    private static final int PERCENT_DEPTH_MAX = 3;
    private static final int REFERENCE_DIGITS_MAX = 7;
    private static final int DECIMAL = 10;
    private static final int HEX = 16;
    private static final String[] NAMES = {"amp;", "lt;", "gt;", "quot;", "apos;"};
    private static final String NAMED = "&<>\"'";

    private byte[] text = {};
    private int end;
    /// Whether more text could have given more readings.
    private boolean cut;

    private long looks;

    /// Is told what a place may be read as.
    @FunctionalInterface
    interface Reading {
        /// @param octet which it is or which is quoted
        /// @param next where that ends
        void is(int octet, int next);
    }

    /// Whether a quotation may begin with this octet.
    static boolean begins(int octet) {
        return octet == '%' || octet == '\\' || octet == '&';
    }

    /// How many octets were looked at so far: the work of it.
    long looks() {
        return looks;
    }

    /// Tells all that a place may be read as, itself included; something may be told several times.
    ///
    /// @param until the end of what is known of the text
    /// @return whether more text could give more readings
    boolean read(byte[] of, int at, int until, Reading reading) {
        text = of;
        end = until;
        cut = false;
        read(at, DEPTH_MAX, reading);
        return cut;
    }

    /// @param depth how many quotations may be in one another here
    private void read(int at, int depth, Reading reading) {
        looks++;
        if (at >= end) {
            cut = true;
            return;
        }
        int octet = text[at] & 0xff;
        reading.is(octet, at + 1);
        if (depth > 0 && begins(octet)) {
            int inside = depth - 1;
            read(at, inside, (first, next) -> {
                switch (first) {
                    case '%' -> percent(next, inside, reading);
                    case '\\' -> backslash(next, inside, reading);
                    case '&' -> reference(next, inside, reading);
                    default -> {}
                }
            });
        }
    }

    private void percent(int from, int depth, Reading reading) {
        int at = from;
        for (int times = 0; times <= PERCENT_DEPTH_MAX; times++) {
            digits(at, 2, 0, depth, reading);
            if (at + 2 > end || text[at] != '2' || text[at + 1] != '5') {
                return;
            }
            at += 2;
        }
    }

    /// An octet in hexadecimal digits.
    private void digits(int from, int count, int before, int depth, Reading reading) {
        int at = from;
        int left = count;
        int value = before;
        while (left > 0 && at < end && !begins(text[at])) { // most are not quoted
            looks++;
            int digit = Character.digit(text[at], HEX);
            if (digit < 0) {
                return;
            }
            value = value * HEX + digit;
            at++;
            left--;
        }
        if (left > 0) {
            quotedDigits(at, left, value, depth, reading);
        } else if (value <= 0xff) {
            reading.is(value, at);
        }
    }

    private void quotedDigits(int at, int left, int value, int depth, Reading reading) {
        read(at, depth, (octet, next) -> {
            int digit = Character.digit(octet, HEX);
            if (digit >= 0) {
                digits(next, left - 1, value * HEX + digit, depth, reading);
            }
        });
    }

    private void backslash(int from, int depth, Reading reading) {
        read(from, depth, (octet, next) -> {
            switch (octet) {
                case '\\', '/', '"', '\'' -> reading.is(octet, next);
                case 'n' -> reading.is('\n', next);
                case 'r' -> reading.is('\r', next);
                case 't' -> reading.is('\t', next);
                case 'u' -> digits(next, 4, 0, depth, reading);
                case 'x' -> digits(next, 2, 0, depth, reading);
                default -> {}
            }
        });
    }

    private void reference(int from, int depth, Reading reading) {
        read(from, depth, (octet, next) -> {
            if (octet == '#') {
                number(next, depth, reading);
                return;
            }
            for (int name = 0; name < NAMES.length; name++) {
                if (octet == NAMES[name].charAt(0)) {
                    named(next, NAMES[name], 1, NAMED.charAt(name), depth, reading);
                }
            }
        });
    }

    private void named(int at, String name, int known, char octet, int depth, Reading reading) {
        if (known == name.length()) {
            reading.is(octet, at);
            return;
        }
        read(at, depth, (letter, next) -> {
            if (letter == name.charAt(known)) {
                named(next, name, known + 1, octet, depth, reading);
            }
        });
    }

    private void number(int from, int depth, Reading reading) {
        numeral(from, DECIMAL, 0, 0, depth, reading);
        read(from, depth, (octet, next) -> {
            if (octet == 'x' || octet == 'X') {
                numeral(next, HEX, 0, 0, depth, reading);
            }
        });
    }

    private void numeral(int at, int radix, int digits, int value, int depth, Reading reading) {
        read(at, depth, (octet, next) -> {
            int digit = Character.digit(octet, radix);
            if (digit >= 0 && digits < REFERENCE_DIGITS_MAX) {
                numeral(next, radix, digits + 1, value * radix + digit, depth, reading);
            } else if (octet == ';' && digits > 0 && value <= 0xff) {
                reading.is(value, next);
            }
        });
    }
}
