package blackbox.query.egress;

import blackbox.policy.host.Address;
import blackbox.policy.host.HostName;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Which addresses the network's own resolver gave for names, and when, as the host saw it. Bounded: what is
/// beyond is not believed. Owned by one thread.
final class HostAnswers {

    private static final int KEPT_MAX = 200_000;

    /// The names that one address was given for: the last one from each event on, and since when each.
    private static final class Names {
        final NavigableMap<Long, String> latest = new TreeMap<>();
        final Map<String, Long> since = new HashMap<>();
    }

    private final Map<String, Names> byAddress = new HashMap<>();
    private int kept;

    /// Takes the next answer; false if it is one too many.
    boolean add(String address, String name, long index) {
        Names names = byAddress.computeIfAbsent(normal(address), _ -> new Names());
        if (!names.latest.isEmpty() && names.latest.lastEntry().getValue().equals(name)) {
            return true;
        }
        if (kept >= KEPT_MAX) {
            return false;
        }
        kept++;
        names.latest.put(index, name);
        names.since.putIfAbsent(name(name), index);
        return true;
    }

    /// The name that an address was last the answer for before event `before`; null if there is none.
    @Nullable
    String latest(String address, long before) {
        Names names = byAddress.get(normal(address));
        Map.Entry<Long, String> latest = names == null ? null : names.latest.lowerEntry(before);
        return latest == null ? null : latest.getValue();
    }

    /// Whether an answer before event `before` gave `address` for `name`.
    boolean gave(String address, String name, long before) {
        Names names = byAddress.get(normal(address));
        Long since = names == null ? null : names.since.get(name(name));
        return since != null && since < before;
    }

    /// Whether two spellings are of one name.
    static boolean isSame(String one, String other) {
        return one.equals(other) || name(one).equals(name(other));
    }

    private static String name(String said) {
        try {
            return HostName.of(said).text();
        } catch (IllegalArgumentException _) {
            return said.toLowerCase(Locale.ROOT);
        }
    }

    private static String normal(String address) {
        Address parsed = Address.parse(address);
        return parsed == null ? address : parsed.toString();
    }
}
