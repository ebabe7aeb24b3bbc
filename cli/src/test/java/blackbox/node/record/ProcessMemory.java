package blackbox.node.record;

import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.Map;

/// The memory of another process, as root reads it: what a core of it would hold.
///
/// @param pid the process
record ProcessMemory(long pid) {
    private static final int PAGE_BYTES = 4_096;

    /// How often each pattern is there, in all that the process may write.
    Map<String, Long> count(Map<String, byte[]> patterns) throws IOException {
        try (InputStream in = stream()) {
            return new OctetSearch(patterns).in(in).counts();
        }
    }

    /// All that the process may write, one part after the other, but what was unmapped meanwhile.
    InputStream stream() throws IOException {
        Path process = Path.of("/proc", Long.toString(pid));
        var parts = new ArrayList<long[]>();
        for (String line : Files.readAllLines(process.resolve("maps"))) {
            String[] fields = line.split("[ -]", 4);
            // What it may not write it has not written; its devices are not memory.
            if (fields[2].startsWith("rw") && !line.contains(" /dev/")) {
                parts.add(new long[] {Long.parseUnsignedLong(fields[0], 16), Long.parseUnsignedLong(fields[1], 16)});
            }
        }
        return new Parts(new RandomAccessFile(process.resolve("mem").toFile(), "r"), parts.iterator());
    }

    private static final class Parts extends InputStream {
        private final RandomAccessFile memory;
        private final Iterator<long[]> parts;
        private long at;
        private long end;

        Parts(RandomAccessFile memory, Iterator<long[]> parts) {
            this.memory = memory;
            this.parts = parts;
        }

        @Override
        public int read() throws IOException {
            var octet = new byte[1];
            return read(octet, 0, 1) < 0 ? -1 : octet[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int from, int length) throws IOException {
            while (length > 0) {
                while (at == end) {
                    if (!parts.hasNext()) {
                        return -1;
                    }
                    long[] part = parts.next();
                    at = part[0];
                    end = part[1];
                }
                try {
                    memory.seek(at);
                    int read = memory.read(into, from, (int) Math.min(length, end - at));
                    if (read > 0) {
                        at += read;
                        return read;
                    }
                } catch (IOException _) {
                    // A page that was unmapped meanwhile.
                }
                at = Math.min(end, at + PAGE_BYTES);
            }
            return 0;
        }

        @Override
        public void close() throws IOException {
            memory.close();
        }
    }
}
