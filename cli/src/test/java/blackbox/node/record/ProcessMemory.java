package blackbox.node.record;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/// The memory of another process, as root reads it: what a core of it would hold.
///
/// @param pid the process
record ProcessMemory(long pid) {
    private static final int CHUNK_BYTES = 16 << 20;

    /// How often each pattern is there, in all that the process may write.
    Map<String, Integer> count(Map<String, byte[]> patterns) throws IOException {
        var counts = new LinkedHashMap<String, Integer>();
        patterns.keySet().forEach(name -> counts.put(name, 0));
        int overlap =
                patterns.values().stream().mapToInt(each -> each.length).max().orElse(1) - 1;
        Path process = Path.of("/proc", Long.toString(pid));
        try (var memory = new RandomAccessFile(process.resolve("mem").toFile(), "r")) {
            for (String line : Files.readAllLines(process.resolve("maps"))) {
                String[] fields = line.split("[ -]", 4);
                // What it may not write it has not written; its devices are not memory.
                if (fields[2].startsWith("rw") && !line.contains(" /dev/")) {
                    count(
                            memory,
                            Long.parseUnsignedLong(fields[0], 16),
                            Long.parseUnsignedLong(fields[1], 16),
                            overlap,
                            patterns,
                            counts);
                }
            }
        }
        return counts;
    }

    private static void count(
            RandomAccessFile memory,
            long from,
            long to,
            int overlap,
            Map<String, byte[]> patterns,
            Map<String, Integer> counts)
            throws IOException {
        var chunk = new byte[CHUNK_BYTES + overlap];
        for (long at = from; at < to; at += CHUNK_BYTES) {
            int length = (int) Math.min(chunk.length, to - at);
            memory.seek(at);
            int read = 0;
            try {
                for (int n = 0; n >= 0 && read < length; read += Math.max(n, 0)) {
                    n = memory.read(chunk, read, length - read);
                }
            } catch (IOException _) {
                // A part that was unmapped meanwhile.
            }
            int known = read;
            patterns.forEach((name, pattern) -> counts.merge(name, count(chunk, known, pattern), Integer::sum));
        }
    }

    /// Those that begin in the chunk itself, and not in what it has of the next one.
    private static int count(byte[] chunk, int length, byte[] pattern) {
        int found = 0;
        int last = Math.min(CHUNK_BYTES - 1, length - pattern.length);
        for (int at = 0; at <= last; at++) {
            if (chunk[at] == pattern[0] && Arrays.equals(chunk, at, at + pattern.length, pattern, 0, pattern.length)) {
                found++;
            }
        }
        return found;
    }
}
