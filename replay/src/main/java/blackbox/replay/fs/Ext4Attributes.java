package blackbox.replay.fs;

import blackbox.schemas.row.Text;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// The extended attributes in an inode or in a block.
final class Ext4Attributes {
    static final int MAGIC = 0xEA020000;
    static final int HEADER_BYTES = 32;

    private static final int ENTRY_BYTES = 16;
    private static final int TRUSTED = 4;

    private final ByteBuffer octets;
    private final int first;

    /// @param octets from the place that the offsets of values are relative to
    /// @param first where the first entry is
    Ext4Attributes(ByteBuffer octets, int first) {
        this.octets = octets.order(ByteOrder.LITTLE_ENDIAN);
        this.first = first;
    }

    @Nullable
    Text trusted(String wanted) throws DamagedTreeException {
        int at = first;
        while (at <= octets.limit() - 4 && octets.getInt(at) != 0) {
            int length = octets.get(at) & 0xff;
            if (at > octets.limit() - ENTRY_BYTES - length) {
                throw new DamagedTreeException("an attribute's name extends beyond the space for attributes");
            }
            var name = new byte[length];
            octets.get(at + ENTRY_BYTES, name);
            if (octets.get(at + 1) == TRUSTED && new String(name, StandardCharsets.ISO_8859_1).equals(wanted)) {
                return value(at);
            }
            at += ENTRY_BYTES + (length + 3 & ~3);
        }
        return null;
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
