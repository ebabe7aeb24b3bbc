package blackbox.replay.fs;

import blackbox.schemas.row.Text;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/// The extended attributes in an inode or in a block.
final class Ext4Attributes {
    static final int MAGIC = 0xEA020000;
    static final int HEADER_BYTES = 32;

    private static final int ENTRY_BYTES = 16;
    /// By their number in an entry (Linux, `fs/ext4/xattr.h`).
    private static final List<String> PREFIXES = List.of(
            "",
            "user.",
            "system.posix_acl_access",
            "system.posix_acl_default",
            "trusted.",
            "",
            "security.",
            "system.",
            "system.richacl");

    private final ByteBuffer octets;
    private final int first;

    /// @param octets from the place that the offsets of values are relative to
    /// @param first where the first entry is
    Ext4Attributes(ByteBuffer octets, int first) {
        this.octets = octets.order(ByteOrder.LITTLE_ENDIAN);
        this.first = first;
    }

    /// Adds them by their whole names.
    void addTo(Map<Text, Text> found) throws DamagedTreeException {
        int at = first;
        while (at <= octets.limit() - 4 && octets.getInt(at) != 0) {
            int length = octets.get(at) & 0xff;
            if (at > octets.limit() - ENTRY_BYTES - length) {
                throw new DamagedTreeException("an attribute's name extends beyond the space for attributes");
            }
            if (found.putIfAbsent(name(at, length), value(at)) != null) {
                throw new DamagedTreeException("a file has two attributes of one name");
            }
            at += ENTRY_BYTES + (length + 3 & ~3);
        }
    }

    private Text name(int at, int length) throws DamagedTreeException {
        int index = octets.get(at + 1);
        String prefix = index < 0 || index >= PREFIXES.size() ? "" : PREFIXES.get(index);
        if (index != 0 && prefix.isEmpty()) {
            throw new DamagedTreeException("an attribute in a namespace that is not known here: " + index);
        }
        byte[] before = prefix.getBytes(StandardCharsets.US_ASCII);
        var name = new byte[before.length + length];
        System.arraycopy(before, 0, name, 0, before.length);
        octets.get(at + ENTRY_BYTES, name, before.length, length);
        return Text.copyOf(name, 0, name.length);
    }

    private Text value(int at) throws DamagedTreeException {
        int from = octets.getShort(at + 2) & 0xffff;
        int length = octets.getInt(at + 8);
        if (octets.getInt(at + 4) != 0 || length < 0 || from > octets.limit() || length > octets.limit() - from) {
            throw new DamagedTreeException("an attribute's value extends beyond the space for attributes");
        }
        var value = new byte[length];
        octets.get(from, value);
        return Text.copyOf(value, 0, length);
    }
}
