package blackbox.gateway.dns;

import blackbox.schemas.Hash;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.net.Octets;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The addresses that stand for names, out of 198.18.0.0/15, which RFC 2544 sets aside and no host has. A name's place
/// follows from the name: whatever else was asked before, it is the same in every run, except where two names fall on
/// one
/// place; then the later one takes the next. Owned by the loop.
public final class NameTable {
    private static final int NETWORK = 198 << 24 | 18 << 16;
    private static final int PLACES = 1 << 17;

    private final Map<String, Integer> addresses = new HashMap<>();
    private final Map<Integer, String> names = new HashMap<>();
    private final Map<String, Integer> perRule = new HashMap<>();
    private final int namesMax;
    private final int namesPerRuleMax;

    /// @param namesMax names in all; at most half of the places
    /// @param namesPerRuleMax names that one rule may allow
    public NameTable(int namesMax, int namesPerRuleMax) {
        if (namesMax < 1 || namesMax > PLACES / 2) {
            throw new IllegalArgumentException("addresses for " + namesMax + " names");
        }
        this.namesMax = namesMax;
        this.namesPerRuleMax = namesPerRuleMax;
    }

    /// The address of a name; null if there are too many names, or too many that the rule allowed.
    public byte @Nullable [] address(String name, String rule) {
        Integer known = addresses.get(name);
        if (known == null) {
            int ofRule = perRule.getOrDefault(rule, 0);
            if (addresses.size() >= namesMax || ofRule >= namesPerRuleMax) {
                return null;
            }
            known = place(name);
            addresses.put(name, known);
            names.put(known, name);
            perRule.put(rule, ofRule + 1);
        }
        var octets = new byte[4];
        Octets.putU32(octets, 0, known);
        return octets;
    }

    private int place(String name) {
        byte[] digest = Hash.sha256(name.getBytes(StandardCharsets.UTF_8)).toBytes();
        int address = NETWORK | Octets.u32(digest, 0) & PLACES - 1;
        while (names.containsKey(address) || isUnusual(address)) {
            address = NETWORK | address + 1 & PLACES - 1;
        }
        return address;
    }

    /// Programs take an address that ends so for a network's or for everybody's.
    private static boolean isUnusual(int address) {
        return (address & 0xff) == 0 || (address & 0xff) == 0xff;
    }

    /// The name that an address stands for; null if it stands for none.
    public @Nullable String name(String address) {
        return names.get(Octets.u32(Octets.ofAddress(address), 0));
    }

    /// Whether an address is one of those that stand for names, given or not.
    public static boolean isOurs(String address) {
        byte[] octets = Octets.ofAddress(address);
        return octets.length == 4 && (Octets.u32(octets, 0) & ~(PLACES - 1)) == NETWORK;
    }

    /// The name that the reverse name of an address (`2.1.18.198.in-addr.arpa`) stands for; null if none.
    @Nullable
    String reverse(String reverseName) {
        String[] labels = reverseName.split("\\.");
        if (labels.length != 6 || !reverseName.endsWith(".in-addr.arpa")) {
            return null;
        }
        String address = IpAddress.canonical(labels[3] + "." + labels[2] + "." + labels[1] + "." + labels[0]);
        return address == null ? null : name(address);
    }

    /// How many names have an address.
    public int size() {
        return addresses.size();
    }
}
