package blackbox.policy.host;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// What an address is for, by the registries of special-purpose addresses (RFC 6890) and by what clouds serve
/// credentials at.
public enum AddressKind {
    /// An address of the Internet.
    PUBLIC("public", Grant.NOT_NEEDED, "is public"),
    /// Networks of one's own: private (RFC 1918), unique local (RFC 4193).
    PRIVATE("private", Grant.BY_RULE, "is in a private network"),
    /// Between a provider and its customers (RFC 6598).
    SHARED("private", Grant.BY_RULE, "is in the range that providers share (CGNAT)"),
    /// Set aside for anything else: documentation, benchmarks, transition mechanisms, the future.
    RESERVED("reserved", Grant.BY_RULE, "is in a reserved range"),
    /// More than one host.
    MULTICAST("multicast", Grant.NEVER, "is a multicast or broadcast address"),
    /// No host at all, which systems take for themselves.
    UNSPECIFIED("loopback", Grant.NEVER, "is the unspecified address, which systems take for their own"),
    /// The host itself.
    LOOPBACK("loopback", Grant.NEVER, "is a loopback address: the recording host's own services"),
    /// What is on the same link.
    LINK_LOCAL("link-local", Grant.NEVER, "is a link-local address"),
    /// Where a cloud serves the credentials of its machines.
    METADATA("metadata", Grant.NEVER, "is where a cloud serves its machines' credentials"),
    /// An address of one of the recording host's interfaces.
    OWN("own", Grant.NEVER, "is an address of the recording host");

    /// What it takes to reach such an address.
    public enum Grant {
        NOT_NEEDED,
        /// A rule with `address`.
        BY_RULE,
        /// Nothing but a rule with `upstream`.
        NEVER
    }

    private record Special(AddressRange range, AddressKind kind) {}

    private static Stream<Special> special(AddressKind kind, String... ranges) {
        return Stream.of(ranges).map(range -> new Special(AddressRange.parse(range), kind));
    }

    /// The first that contains an address decides.
    private static final List<Special> SPECIAL = Stream.of(
                    special(
                            METADATA,
                            "169.254.169.254",
                            "169.254.169.253",
                            "169.254.169.123",
                            "169.254.170.2",
                            "169.254.170.23",
                            "100.100.100.200",
                            "192.0.0.192",
                            "168.63.129.16",
                            "fd00:ec2::254",
                            "fd00:ec2::23",
                            "fd20:ce::254"),
                    special(LOOPBACK, "127.0.0.0/8", "::1"),
                    special(UNSPECIFIED, "0.0.0.0/8", "::"),
                    special(LINK_LOCAL, "169.254.0.0/16", "fe80::/10"),
                    special(MULTICAST, "224.0.0.0/4", "255.255.255.255", "ff00::/8"),
                    special(PRIVATE, "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"),
                    special(SHARED, "100.64.0.0/10"),
                    special(
                            RESERVED,
                            "192.0.0.0/24",
                            "192.0.2.0/24",
                            "192.88.99.0/24",
                            "198.18.0.0/15",
                            "198.51.100.0/24",
                            "203.0.113.0/24",
                            "240.0.0.0/4",
                            "2001::/23",
                            "2001:db8::/32",
                            "2002::/16",
                            "3fff::/20"))
            .flatMap(each -> each)
            .toList();

    private static final AddressRange GLOBAL_V6 = AddressRange.parse("2000::/3");

    /// Prefixes before an IPv4 address, and the octet from which on that is: IPv4-compatible, NAT64 (RFC 6052,
    /// RFC 8215), 6to4 (RFC 3056).
    private static final Map<AddressRange, Integer> EMBEDDING = Map.of(
            AddressRange.parse("::/96"), 12,
            AddressRange.parse("64:ff9b::/96"), 12,
            AddressRange.parse("64:ff9b:1::/96"), 12,
            AddressRange.parse("2002::/16"), 2);

    private final String word;
    private final Grant grant;
    private final String clause;

    AddressKind(String word, Grant grant, String clause) {
        this.word = word;
        this.grant = grant;
        this.clause = clause;
    }

    /// What an address is for; an IPv6 address that leads to an IPv4 address is never less restricted than that
    /// one.
    public static AddressKind of(Address address) {
        for (Map.Entry<AddressRange, Integer> embedding : EMBEDDING.entrySet()) {
            if (embedding.getKey().contains(address)) {
                AddressKind itself = registered(address);
                AddressKind inner = registered(address.embedded(embedding.getValue()));
                return itself.compareTo(inner) >= 0 ? itself : inner;
            }
        }
        return registered(address);
    }

    private static AddressKind registered(Address address) {
        for (Special special : SPECIAL) {
            if (special.range.contains(address)) {
                return special.kind;
            }
        }
        return address.isV4() || GLOBAL_V6.contains(address) ? PUBLIC : RESERVED;
    }

    /// As in the name of the built-in rule that refuses it.
    public String word() {
        return word;
    }

    public Grant grant() {
        return grant;
    }

    /// Whether a rule's `upstream` may be there: on this host or near it, but not where nobody means to be led.
    public boolean mayBeUpstream() {
        return this != METADATA && this != LINK_LOCAL && this != MULTICAST;
    }

    /// What to say of such an address, after it.
    public String clause() {
        return clause;
    }
}
