package blackbox.vm.carry;

import blackbox.schemas.Hash;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The octets of an image archive around its contents: a ustar archive in which the manifest determines every
/// header, all padding and the end. A reader therefore generates them itself and compares; it interprets none of
/// them.
final class ArchiveForm {
    static final int BLOCK = 512;
    static final int VERSION = 1;
    /// Name of the first entry.
    static final String FIRST = "blackbox-image-archive";
    /// Name of the second.
    static final String MANIFEST = "manifest.json";
    /// The end: two empty blocks.
    static final int END_BYTES = 2 * BLOCK;

    static final int MANIFEST_BYTES_MAX = 16 << 20;

    private static final Pattern LINE =
            Pattern.compile("blackbox-image-archive ([0-9]{1,4})\nmanifest ([0-9a-f]{64}) ([0-9]{8})\n");

    private ArchiveForm() {}

    /// What the first entry says.
    ///
    /// @param version of the whole form
    /// @param manifest digest of the manifest
    /// @param bytes length of the manifest
    record Label(int version, Hash manifest, int bytes) {
        byte[] octets() {
            return String.format(Locale.ROOT, "blackbox-image-archive %d\nmanifest %s %08d\n", version, manifest, bytes)
                    .getBytes(StandardCharsets.US_ASCII);
        }

        /// Reads a label; null if `text` is not one.
        static @Nullable Label of(byte[] octets) {
            Matcher found = LINE.matcher(new String(octets, StandardCharsets.ISO_8859_1));
            return found.matches()
                    ? new Label(
                            Integer.parseInt(found.group(1)),
                            Hash.ofHex(found.group(2)),
                            Integer.parseInt(found.group(3)))
                    : null;
        }

        static int length(int version) {
            return new Label(version, Hash.sha256(new byte[0]), 0).octets().length;
        }
    }

    /// Name of an object's entry.
    static String name(String sha256) {
        return "sha256/" + sha256;
    }

    /// The header of a file of this name and length: mode 0644, owner 0, time 0.
    static byte[] header(String name, long bytes) {
        var block = new byte[BLOCK];
        put(block, 0, name);
        put(block, 100, "0000644");
        put(block, 108, "0000000");
        put(block, 116, "0000000");
        put(block, 124, String.format(Locale.ROOT, "%011o", bytes));
        put(block, 136, "00000000000");
        block[156] = '0';
        put(block, 257, "ustar\00000");
        Arrays.fill(block, 148, 156, (byte) ' ');
        int sum = 0;
        for (byte octet : block) {
            sum += octet & 0xff;
        }
        put(block, 148, String.format(Locale.ROOT, "%06o\0", sum));
        return block;
    }

    /// How many zero octets follow a file of this many octets.
    static int padding(long bytes) {
        return (int) ((BLOCK - bytes % BLOCK) % BLOCK);
    }

    private static void put(byte[] block, int at, String text) {
        byte[] octets = text.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(octets, 0, block, at, octets.length);
    }
}
