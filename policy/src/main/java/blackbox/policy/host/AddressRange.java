package blackbox.policy.host;

/// Addresses that begin with the same bits (CIDR, RFC 4632).
///
/// @param base the first of them: its bits after the prefix are 0
/// @param prefix how many bits they share
public record AddressRange(Address base, int prefix) implements Comparable<AddressRange> {

    /// Ranges of more addresses than these are no choice of whom to reach.
    private static final int PREFIX_MIN_V4 = 8;

    private static final int PREFIX_MIN_V6 = 7;

    /// @throws IllegalArgumentException when it has bits after its prefix, or no such prefix
    public AddressRange {
        if (prefix < 0 || prefix > base.bits()) {
            throw new IllegalArgumentException("its prefix is 0 to " + base.bits() + " bits long, not " + prefix);
        }
        if (!base.endsAfter(prefix)) {
            throw new IllegalArgumentException("it has bits after its prefix of " + prefix);
        }
    }

    /// Reads `ADDRESS` or `ADDRESS/PREFIX`.
    ///
    /// @throws IllegalArgumentException with a clause that says why it is none
    public static AddressRange parse(String text) {
        int slash = text.indexOf('/');
        Address base = Address.parse(slash < 0 ? text : text.substring(0, slash));
        if (base == null) {
            throw new IllegalArgumentException(
                    "it is no IP address: write four decimal numbers or IPv6, with /PREFIX for a range");
        }
        if (slash < 0) {
            return new AddressRange(base, base.bits());
        }
        String prefix = text.substring(slash + 1);
        if (!prefix.matches("0|[1-9][0-9]{0,2}") || text.substring(0, slash).contains(":") == base.isV4()) {
            throw new IllegalArgumentException("it has no prefix length after /");
        }
        return new AddressRange(base, Integer.parseInt(prefix));
    }

    public boolean contains(Address address) {
        return address.startsLike(base, prefix);
    }

    /// Whether every address of `other` is in it.
    public boolean contains(AddressRange other) {
        return other.prefix >= prefix && contains(other.base);
    }

    /// Whether it has so many addresses that naming it is no choice.
    public boolean isWide() {
        return prefix < (base.isV4() ? PREFIX_MIN_V4 : PREFIX_MIN_V6);
    }

    @Override
    public int compareTo(AddressRange other) {
        return toString().compareTo(other.toString());
    }

    @Override
    public String toString() {
        return prefix == base.bits() ? base.toString() : base + "/" + prefix;
    }
}
