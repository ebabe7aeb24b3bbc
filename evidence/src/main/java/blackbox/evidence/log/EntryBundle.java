package blackbox.evidence.log;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Up to 256 leaves in a row (C2SP tlog-tiles, log entries): each one's length as a big-endian uint16, then
/// its octets.
public record EntryBundle(List<byte[]> entries) {

    /// The longest leaf that a bundle can hold.
    public static final int ENTRY_LENGTH_MAX = 0xffff;

    public EntryBundle {
        entries = List.copyOf(entries);
        if (entries.isEmpty() || entries.size() > TilePath.FULL) {
            throw new IllegalArgumentException("a bundle holds 1 to 256 entries, not " + entries.size());
        }
        for (byte[] entry : entries) {
            if (entry.length > ENTRY_LENGTH_MAX) {
                throw new IllegalArgumentException("an entry has at most 65535 octets, not " + entry.length);
            }
        }
    }

    /// The bundle as it is stored.
    public byte[] encoded() {
        var octets = new ByteArrayOutputStream();
        for (byte[] entry : entries) {
            octets.write(entry.length >>> 8);
            octets.write(entry.length);
            octets.writeBytes(entry);
        }
        return octets.toByteArray();
    }

    /// Reads a bundle of exactly `width` entries; null if it is cut off, too long, or holds another number.
    public static @Nullable EntryBundle parse(byte[] octets, int width) {
        var entries = new ArrayList<byte[]>();
        int at = 0;
        while (at < octets.length) {
            if (octets.length - at < 2 || entries.size() == width) {
                return null;
            }
            int length = (octets[at] & 0xff) << 8 | octets[at + 1] & 0xff;
            at += 2;
            if (octets.length - at < length) {
                return null;
            }
            var entry = new byte[length];
            System.arraycopy(octets, at, entry, 0, length);
            entries.add(entry);
            at += length;
        }
        return entries.size() == width && width >= 1 && width <= TilePath.FULL ? new EntryBundle(entries) : null;
    }
}
