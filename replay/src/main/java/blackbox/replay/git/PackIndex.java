package blackbox.replay.git;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/// The files beside a pack that say where its objects are (`gitformat-pack`): all that they hold follows from the pack,
/// so that they are compared with what they must be.
final class PackIndex {
    private static final int SIGNATURE = 0xff744f63;
    private static final int VERSION = 2;
    private static final int REVERSE_SIGNATURE = 0x52494458; // RIDX
    private static final int REVERSE_VERSION = 1;
    private static final int SHA1 = 1;
    private static final int FAN_BYTES = 4 * 256;
    private static final int DIGEST_BYTES = 20;

    private PackIndex() {}

    /// A pack's `.idx`, version 2.
    static byte[] index(PackFile pack) {
        int bytes = 8 + FAN_BYTES + pack.ids().size() * (DIGEST_BYTES + 4 + 4) + 2 * DIGEST_BYTES;
        ByteBuffer index = ByteBuffer.allocate(bytes).putInt(SIGNATURE).putInt(VERSION);
        putFan(index, pack.ids());
        pack.ids().forEach(id -> index.put(HexFormat.of().parseHex(id)));
        pack.entries().forEach(entry -> index.putInt(entry.crc()));
        pack.entries().forEach(entry -> index.putInt(entry.offset()));
        return signed(index.put(pack.digest()));
    }

    /// A pack's `.rev`, version 1: the places of its objects in the index, by where they are in the pack.
    static byte[] reverse(PackFile pack) {
        record Place(int offset, int place) {}
        List<Place> places = new ArrayList<>();
        pack.entries().forEach(entry -> places.add(new Place(entry.offset(), places.size())));
        places.sort(Comparator.comparingInt(Place::offset));
        ByteBuffer reverse = ByteBuffer.allocate(12 + 4 * places.size() + 2 * DIGEST_BYTES)
                .putInt(REVERSE_SIGNATURE)
                .putInt(REVERSE_VERSION)
                .putInt(SHA1);
        places.forEach(place -> reverse.putInt(place.place()));
        return signed(reverse.put(pack.digest()));
    }

    /// How many ids begin with each octet or a lesser one.
    ///
    /// @param ids in their order
    static void putFan(ByteBuffer out, Set<String> ids) {
        var counts = new int[256];
        ids.forEach(id -> counts[HexFormat.fromHexDigits(id, 0, 2)]++);
        int all = 0;
        for (int count : counts) {
            all += count;
            out.putInt(all);
        }
    }

    /// All octets, with the digest of those that are there in the end.
    static byte[] signed(ByteBuffer out) {
        int end = out.position();
        return out.put(GitDigest.sha1(out.array(), end)).array();
    }
}
