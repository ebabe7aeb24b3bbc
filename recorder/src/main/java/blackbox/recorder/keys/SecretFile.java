package blackbox.recorder.keys;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/// Reads files that hold secrets, so that nothing of them is left in memory but what the caller clears: no
/// text, and no buffer of the JDK's.
public final class SecretFile {
    /// Far more than any key file has.
    private static final int BYTES_MAX = 1 << 16;

    /// What came out of pipes. Guarded by itself.
    private static final Map<Path, char[]> PIPED = new HashMap<>();

    private SecretFile() {}

    /// A file's octets, which the caller clears.
    ///
    /// @throws IOException also if it has more than 64 KiB
    public static byte[] octets(Path file) throws IOException {
        // A direct buffer of ours: for another one the JDK would read into a buffer of its own, and keep that.
        ByteBuffer direct = ByteBuffer.allocateDirect(BYTES_MAX + 1);
        try (FileChannel channel = FileChannel.open(file)) {
            while (direct.hasRemaining() && channel.read(direct) >= 0) {
                // it may come in pieces, from a pipe
            }
            if (!direct.hasRemaining()) {
                throw new IOException("it has more than " + BYTES_MAX + " bytes, and so is no key or passphrase");
            }
            direct.flip();
            var octets = new byte[direct.remaining()];
            direct.get(octets);
            return octets;
        } finally {
            direct.clear();
            while (direct.hasRemaining()) {
                direct.put((byte) 0);
            }
        }
    }

    /// A file's characters without the white space around them, which the caller clears. Those of a pipe
    /// (`/dev/fd/N`) can be read only once, and a pair of keys needs them twice: they are kept until this
    /// process ends.
    static char[] characters(Path file) throws IOException {
        if (!isReadOnce(file)) {
            return read(file);
        }
        synchronized (PIPED) {
            char[] kept = PIPED.get(file);
            if (kept == null) {
                kept = read(file);
                PIPED.put(file, kept);
            }
            return kept.clone();
        }
    }

    /// Whether what it names gives its octets only once, as a pipe does, and so to this process alone.
    public static boolean isReadOnce(Path file) {
        return !Files.isRegularFile(file);
    }

    private static char[] read(Path file) throws IOException {
        byte[] octets = octets(file);
        CharBuffer text = CharBuffer.allocate(0);
        try {
            text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(octets));
            int from = 0;
            int to = text.length();
            while (from < to && Character.isWhitespace(text.charAt(from))) {
                from++;
            }
            while (from < to && Character.isWhitespace(text.charAt(to - 1))) {
                to--;
            }
            var characters = new char[to - from];
            text.get(from, characters);
            return characters;
        } finally {
            Arrays.fill(octets, (byte) 0);
            Arrays.fill(text.array(), '\0');
        }
    }
}
