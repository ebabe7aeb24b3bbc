package blackbox.node.record;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Looks for many texts at once: whatever there is of them is found in one pass over gigabytes. Owned by
/// one thread.
final class OctetSearch {
    private static final int PIECE_BYTES = 4 << 20;

    /// By the first two octets.
    private final Sought[][] beginnings = new Sought[1 << 16][];

    private final List<String> names;
    private final int longest;
    private final byte[] buffer;

    /// What is looked for.
    private record Sought(String name, byte[] octets) {}

    /// @param patterns of at least two octets each, by what they are called
    OctetSearch(Map<String, byte[]> patterns) {
        names = List.copyOf(patterns.keySet());
        longest = patterns.values().stream().mapToInt(each -> each.length).max().orElseThrow();
        buffer = new byte[longest - 1 + PIECE_BYTES];
        var byBeginning = new LinkedHashMap<Integer, List<Sought>>();
        patterns.forEach((name, octets) -> byBeginning
                .computeIfAbsent(beginning(octets, 0), _ -> new ArrayList<>())
                .add(new Sought(name, octets)));
        Arrays.fill(beginnings, new Sought[0]);
        byBeginning.forEach((beginning, all) -> beginnings[beginning] = all.toArray(Sought[]::new));
    }

    private static int beginning(byte[] octets, int at) {
        return (octets[at] & 0xff) << 8 | octets[at + 1] & 0xff;
    }

    /// What was found.
    ///
    /// @param octets how many there were
    /// @param counts how often each pattern is there, also where it overlaps itself
    record Found(long octets, Map<String, Long> counts) {}

    /// Searches a stream to its end.
    Found in(InputStream in) throws IOException {
        var counts = new LinkedHashMap<String, Long>();
        names.forEach(name -> counts.put(name, 0L));
        int kept = 0;
        long octets = 0;
        for (int read = in.readNBytes(buffer, 0, PIECE_BYTES);
                read > 0;
                read = in.readNBytes(buffer, kept, PIECE_BYTES)) {
            octets += read;
            int end = kept + read;
            count(kept, end, counts);
            int from = Math.max(0, end - (longest - 1));
            System.arraycopy(buffer, from, buffer, 0, end - from);
            kept = end - from;
        }
        return new Found(octets, counts);
    }

    /// Counts what ends in the octets from `seen` on: what ends before was counted with the piece before.
    private void count(int seen, int end, Map<String, Long> counts) {
        for (int at = 0; at < end - 1; at++) {
            for (Sought sought : beginnings[beginning(buffer, at)]) {
                int until = at + sought.octets.length;
                if (until > seen
                        && until <= end
                        && Arrays.equals(buffer, at, until, sought.octets, 0, sought.octets.length)) {
                    counts.merge(sought.name, 1L, Long::sum);
                }
            }
        }
    }
}
