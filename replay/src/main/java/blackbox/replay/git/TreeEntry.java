package blackbox.replay.git;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A name in a tree.
///
/// @param mode octal digits, as git writes them
/// @param name each octet a character
/// @param id of what has that name
record TreeEntry(String mode, String name, String id) {
    private static final int DIGEST_BYTES = 20;

    /// A tree's entries, or null if it is malformed.
    static @Nullable List<TreeEntry> of(GitObject tree) {
        byte[] octets = tree.content();
        var entries = new ArrayList<TreeEntry>();
        int at = 0;
        while (at < octets.length) {
            int space = find(octets, ' ', at);
            int nul = space < 0 ? -1 : find(octets, 0, space);
            if (nul < 0 || octets.length - nul <= DIGEST_BYTES) {
                return null;
            }
            entries.add(new TreeEntry(
                    new String(octets, at, space - at, StandardCharsets.ISO_8859_1),
                    new String(octets, space + 1, nul - space - 1, StandardCharsets.ISO_8859_1),
                    HexFormat.of().formatHex(octets, nul + 1, nul + 1 + DIGEST_BYTES)));
            at = nul + 1 + DIGEST_BYTES;
        }
        return entries;
    }

    private static int find(byte[] octets, int octet, int from) {
        for (int i = from; i < octets.length; i++) {
            if (octets[i] == octet) {
                return i;
            }
        }
        return -1;
    }

    boolean isFolder() {
        return mode.equals("40000");
    }

    /// A file, executable or not.
    boolean isFile() {
        return mode.startsWith("100");
    }
}
