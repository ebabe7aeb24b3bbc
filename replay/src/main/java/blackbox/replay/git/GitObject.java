package blackbox.replay.git;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/// An object as git stores it in a file of its own (`gitformat-loose`, SHA-1): a zlib stream of `type SP length NUL`
/// and the content, named by the digest of all that; or one of a pack. Immutable.
public final class GitObject {
    /// The longest content that is read.
    static final int BYTES_MAX = 4 << 20;

    private static final int HEADER_BYTES_MAX = 32;
    /// The longest stream: zlib makes what it cannot shorten a little longer.
    private static final int STREAM_BYTES_MAX = BYTES_MAX + (BYTES_MAX >> 10) + 64;

    /// How hard zlib tried is not compared of what is in packs.
    private static final int IN_PACK = -1;

    private final Type type;
    private final byte[] content;
    private final int level;

    private GitObject(Type type, byte[] content, int level) {
        this.type = type;
        this.content = content;
        this.level = level;
    }

    /// What an object is.
    public enum Type {
        BLOB,
        TREE,
        COMMIT,
        TAG;

        private static @Nullable Type of(String word) {
            return switch (word) {
                case "blob" -> BLOB;
                case "tree" -> TREE;
                case "commit" -> COMMIT;
                case "tag" -> TAG;
                default -> null;
            };
        }
    }

    /// Reads one.
    ///
    /// @param id 40 lower-case hexadecimal digits
    /// @return null if it is not that object, whole and with nothing behind it, or is longer than [#BYTES_MAX]
    public static @Nullable GitObject read(InputStream loose, String id) throws IOException {
        byte[] stream = loose.readNBytes(STREAM_BYTES_MAX);
        byte[] octets = stream.length == STREAM_BYTES_MAX ? null : inflate(stream);
        return octets == null || !digest(octets).equals(id)
                ? null
                : of(octets, (stream[0] & 0xff) << 8 | stream[1] & 0xff);
    }

    /// An object of a pack.
    ///
    /// @param content not changed afterwards
    static GitObject packed(Type type, byte[] content) {
        return new GitObject(type, content, IN_PACK);
    }

    /// The digest that names it.
    String id() {
        MessageDigest digest = GitDigest.sha1();
        String header = type.name().toLowerCase(Locale.ROOT) + ' ' + content.length + '\0';
        digest.update(header.getBytes(StandardCharsets.ISO_8859_1));
        return HexFormat.of().formatHex(digest.digest(content));
    }

    /// The content of a zlib stream that ends where the octets do, or null.
    private static byte @Nullable [] inflate(byte[] stream) {
        var inflater = new Inflater();
        try {
            inflater.setInput(stream);
            var octets = new byte[Math.min(BYTES_MAX + HEADER_BYTES_MAX, 4 * stream.length + HEADER_BYTES_MAX)];
            int length = 0;
            while (!inflater.finished()) {
                if (length == octets.length) {
                    if (length == BYTES_MAX + HEADER_BYTES_MAX) {
                        return null;
                    }
                    octets = Arrays.copyOf(octets, Math.min(BYTES_MAX + HEADER_BYTES_MAX, 2 * length));
                }
                int count = inflater.inflate(octets, length, octets.length - length);
                if (count == 0 && !inflater.finished()) {
                    return null; // the stream is cut, or asks for a dictionary
                }
                length += count;
            }
            return inflater.getRemaining() > 0 ? null : Arrays.copyOf(octets, length);
        } catch (DataFormatException e) {
            return null;
        } finally {
            inflater.end();
        }
    }

    private static String digest(byte[] octets) {
        MessageDigest digest = GitDigest.sha1();
        return HexFormat.of().formatHex(digest.digest(octets));
    }

    private static @Nullable GitObject of(byte[] octets, int level) {
        int nul = 0;
        while (nul < octets.length && octets[nul] != 0) {
            nul++;
        }
        if (nul > HEADER_BYTES_MAX || nul == octets.length) {
            return null;
        }
        String[] header = new String(octets, 0, nul, StandardCharsets.ISO_8859_1).split(" ", -1);
        Type type = Type.of(header[0]);
        byte[] content = Arrays.copyOfRange(octets, nul + 1, octets.length);
        boolean whole =
                content.length <= BYTES_MAX && header.length == 2 && header[1].equals(Integer.toString(content.length));
        return type == null || !whole ? null : new GitObject(type, content, level);
    }

    Type type() {
        return type;
    }

    /// Whether zlib was told to try as hard, as the first two octets of its stream say; or both are in packs.
    public boolean isPackedLike(GitObject other) {
        return level == other.level;
    }

    GitObject withoutContent() {
        return new GitObject(type, new byte[0], level);
    }

    /// Length of the content in octets.
    int length() {
        return content.length;
    }

    /// The content, each octet a character.
    String text() {
        return new String(content, StandardCharsets.ISO_8859_1);
    }

    InputStream stream() {
        return new ByteArrayInputStream(content);
    }

    byte[] content() {
        return content.clone();
    }
}
