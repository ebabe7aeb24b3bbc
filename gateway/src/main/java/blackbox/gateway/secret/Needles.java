package blackbox.gateway.secret;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Octet strings in all of their forms, by how they begin. Owned by one thread.
final class Needles {
    private static final int OCTETS = 256;

    private final List<Needle> all;
    /// Those that begin with an octet.
    private final List<List<Needle>> beginning = new ArrayList<>(OCTETS);
    /// Those that begin with two octets, neither of which is quoted; null if none does.
    private final Needle[] @Nullable [] pairs = new Needle[OCTETS * OCTETS][];

    private final Quoted quoted = new Quoted();
    private final BitSet read = new BitSet(OCTETS);
    private final List<Needle> candidates = new ArrayList<>();

    Needles(List<Needle> all) {
        this.all = List.copyOf(all);
        for (int octet = 0; octet < OCTETS; octet++) {
            int each = octet;
            beginning.add(all.stream().filter(needle -> needle.accepts(0, each)).toList());
        }
        for (int first = 0; first < OCTETS; first++) {
            for (Needle needle : beginning.get(first)) {
                for (int second = 0; second < OCTETS; second++) {
                    if (needle.accepts(1, second)) {
                        add(first << Byte.SIZE | second, needle);
                    }
                }
            }
        }
    }

    private void add(int pair, Needle needle) {
        Needle @Nullable [] known = pairs[pair];
        Needle[] more = known == null ? new Needle[1] : Arrays.copyOf(known, known.length + 1);
        more[more.length - 1] = needle;
        pairs[pair] = more;
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    Quoted quoted() {
        return quoted;
    }

    /// Those that may begin at a place, if that can be told yet.
    ///
    /// @param whole whether nothing comes after the end
    /// @return valid until the next call; null if more text could make it others
    @Nullable
    List<Needle> at(byte[] text, int at, int end, boolean whole) {
        int octet = text[at] & 0xff;
        if (Quoted.begins(octet)) {
            return quotedAt(text, at, end, whole);
        }
        List<Needle> plain = beginning.get(octet);
        if (plain.isEmpty()) {
            return plain;
        }
        if (at + 1 == end) {
            return whole ? List.of() : null; // none has one octet
        }
        int second = text[at + 1] & 0xff;
        if (Quoted.begins(second) || second == '\n' || second == '\r') {
            return plain;
        }
        Needle @Nullable [] both = pairs[octet << Byte.SIZE | second];
        return both == null ? List.of() : Arrays.asList(both);
    }

    private @Nullable List<Needle> quotedAt(byte[] text, int at, int end, boolean whole) {
        read.clear();
        boolean cut = quoted.read(text, at, end, (octet, after) -> read.set(octet));
        if (cut && !whole) {
            return null;
        }
        candidates.clear();
        for (int octet = read.nextSetBit(0); octet >= 0; octet = read.nextSetBit(octet + 1)) {
            candidates.addAll(beginning.get(octet));
        }
        return candidates;
    }

    void clear() {
        all.forEach(Needle::clear);
    }
}
