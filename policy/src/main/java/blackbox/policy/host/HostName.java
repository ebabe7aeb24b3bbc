package blackbox.policy.host;

import java.net.IDN;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// A host name as names are compared: ASCII in lower case without a final dot; names of other scripts as
/// A-labels (`xn--…`, RFC 5890). At most 253 octets, labels of 1 to 63.
///
/// An address, in whatever notation, is never a name: a last label that is a number (`127.1`, `0x7f000001`) is
/// what resolvers take for an IPv4 address, so it is refused.
public record HostName(String text) implements Comparable<HostName> {

    private static final int OCTETS_MAX = 253;
    private static final int LABEL_OCTETS_MAX = 63;

    /// What IDNA 2003, IDNA 2008 and UTS 46 turn into different names (UTS 46, section 7): sharp s, final
    /// sigma, and the joiners.
    private static final String DEVIATIONS = "ßς\u200c\u200d";

    /// @throws IllegalArgumentException when the text is no name in that form
    public HostName {
        String why = whyNot(text);
        if (why != null) {
            throw new IllegalArgumentException(why);
        }
    }

    /// A name as it comes over a wire: ASCII in any case, with or without a final dot.
    ///
    /// @throws IllegalArgumentException with a clause that says why it is none
    public static HostName of(String text) {
        if (!text.chars().allMatch(c -> c < 0x80)) {
            throw new IllegalArgumentException("it has octets that are not ASCII");
        }
        String lower = text.toLowerCase(Locale.ROOT);
        return new HostName(lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower);
    }

    /// A name as people write it, in any script.
    ///
    /// @throws IllegalArgumentException with a clause that says why it is none
    public static HostName ofUnicode(String text) {
        if (text.chars().allMatch(c -> c < 0x80)) {
            return of(text);
        }
        if (text.length() > OCTETS_MAX) {
            throw new IllegalArgumentException("it is longer than " + OCTETS_MAX + " characters");
        }
        if (text.chars().anyMatch(c -> DEVIATIONS.indexOf(c) >= 0)) {
            throw new IllegalArgumentException(
                    "it has a character that versions of IDNA turn into different names (ß, ς or a joiner); write the"
                            + " name as xn--…");
        }
        try {
            return of(IDN.toASCII(text, IDN.USE_STD3_ASCII_RULES));
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new IllegalArgumentException("it cannot be written as xn--… (IDNA): " + e.getMessage(), e);
        }
    }

    /// From left to right.
    public List<String> labels() {
        return List.of(text.split("\\.", -1));
    }

    private static @Nullable String whyNot(String text) {
        if (text.isEmpty()) {
            return "it is empty";
        }
        if (text.length() > OCTETS_MAX) {
            return "it is longer than " + OCTETS_MAX + " characters";
        }
        String last = "";
        for (String label : text.split("\\.", -1)) {
            if (label.isEmpty()) {
                return "it has an empty label: two dots, or one at its beginning";
            }
            if (label.length() > LABEL_OCTETS_MAX) {
                return "it has a label of more than " + LABEL_OCTETS_MAX + " characters";
            }
            if (!label.chars().allMatch(HostName::isOfName)) {
                return "it has a character that names do not have: only letters, digits, - and _ are between dots";
            }
            if (label.startsWith("-") || label.endsWith("-")) {
                return "it has a label that begins or ends with -";
            }
            last = label;
        }
        return isNumber(last) ? "its last label is a number, so programs take it for an IPv4 address" : null;
    }

    private static boolean isOfName(int c) {
        return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_';
    }

    /// As the URL standard decides whether a host is an IPv4 address.
    private static boolean isNumber(String label) {
        String digits = label.startsWith("0x") ? label.substring(2) : label;
        boolean hex = label.startsWith("0x");
        return digits.chars().allMatch(c -> c >= '0' && c <= '9' || hex && c >= 'a' && c <= 'f');
    }

    @Override
    public int compareTo(HostName other) {
        return text.compareTo(other.text);
    }

    @Override
    public String toString() {
        return text;
    }
}
