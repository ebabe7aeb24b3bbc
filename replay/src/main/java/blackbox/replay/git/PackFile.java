package blackbox.replay.git;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/// A pack of git's objects (`gitformat-pack`, version 2 with SHA-1) that is whole: its digest is its name, each object
/// inflates and resolves within it, there are as many as it says, each once, and nothing is before, between or behind
/// them. What is beyond a bound here counts as not whole.
///
/// Memory: the pack's octets, and some hundred octets an object. Owned by one thread.
final class PackFile {
    /// The longest that is understood, in octets.
    static final int OCTETS_MAX = 32 << 20;

    static final int OBJECTS_MAX = 20_000;

    /// How many objects one is made from; git's own limit is 50 unless it is told another one.
    static final int DEPTH_MAX = 64;

    private static final int SIGNATURE = 0x5041434b; // PACK
    private static final int VERSION = 2;
    private static final int HEADER_BYTES = 12;
    private static final int DIGEST_BYTES = 20;
    private static final int BY_OFFSET = 6;
    private static final int BY_ID = 7;
    private static final int MORE = 0x80;

    private final byte[] octets;
    private final int end;
    private final PackWork work;
    private final Map<Integer, Entry> byOffset = new HashMap<>();
    private final SortedMap<String, Entry> byId = new TreeMap<>();

    private PackFile(byte[] octets, PackWork work) {
        this.octets = octets;
        this.end = octets.length - DIGEST_BYTES;
        this.work = work;
    }

    /// Where an object is in the pack.
    static final class Entry {
        private final int offset;
        private int dataAt;
        private int dataEnd;
        private int bytes;
        private int crc;
        private GitObject.@Nullable Type type;
        /// What it is made from: first where that is or which it is, then the object.
        private int baseOffset;

        private @Nullable String baseId;
        private @Nullable Entry base;
        private int depth;
        private @Nullable String id;

        private Entry(int offset) {
            this.offset = offset;
        }

        int offset() {
            return offset;
        }

        /// The checksum of what it takes up in the pack.
        int crc() {
            return crc;
        }

        private boolean isDelta() {
            return baseOffset > 0 || baseId != null;
        }
    }

    /// Reads a pack.
    ///
    /// @param octets all of it; not changed afterwards
    /// @param name 40 lower-case hexadecimal digits
    /// @return null if it is not that pack, whole and valid
    static @Nullable PackFile of(byte[] octets, String name, PackWork work) {
        var pack = new PackFile(octets, work);
        try {
            work.spend(octets.length);
            return pack.hasName(name) && pack.isResolved() ? pack : null;
        } catch (DataFormatException e) {
            return null;
        }
    }

    private boolean hasName(String name) {
        return end >= HEADER_BYTES
                && octets.length <= OCTETS_MAX
                && HexFormat.of().formatHex(octets, end, octets.length).equals(name)
                && Arrays.equals(digest(), GitDigest.sha1(octets, end));
    }

    /// What it ends with.
    byte[] digest() {
        return Arrays.copyOfRange(octets, end, octets.length);
    }

    boolean hasOctets(byte[] others) {
        return Arrays.equals(octets, others);
    }

    /// Ids of all that it holds.
    Set<String> ids() {
        return Collections.unmodifiableSet(byId.keySet());
    }

    /// In the order of ids.
    Collection<Entry> entries() {
        return byId.values();
    }

    /// An object; null if it is not here, or if what all packs of this side may cost is used up.
    @Nullable
    GitObject read(String id) {
        Entry entry = byId.get(id);
        if (entry == null || entry.type == null) {
            return null;
        }
        try {
            return GitObject.packed(entry.type, content(entry));
        } catch (DataFormatException e) {
            return null;
        }
    }

    /// Finds all objects and what they are.
    private boolean isResolved() throws DataFormatException {
        var header = ByteBuffer.wrap(octets);
        int count = header.getInt(8);
        if (header.getInt(0) != SIGNATURE || header.getInt(4) != VERSION || count < 0 || count > OBJECTS_MAX) {
            return false;
        }
        var open = new ArrayList<Entry>();
        int at = HEADER_BYTES;
        for (int i = 0; i < count; i++) {
            var entry = new Entry(at);
            readHeader(entry);
            byte[] own = inflate(entry);
            byOffset.put(at, entry);
            at = entry.dataEnd;
            entry.crc = crc(entry);
            if (findsBase(entry)) {
                resolve(entry, own);
            } else {
                open.add(entry);
            }
        }
        return at == end && settle(open) && byId.size() == count;
    }

    /// Resolves those whose bases come later. Each round takes one step of the longest chain, which is bounded.
    private boolean settle(List<Entry> open) throws DataFormatException {
        List<Entry> left = open;
        while (!left.isEmpty()) {
            var later = new ArrayList<Entry>();
            for (Entry entry : left) {
                if (findsBase(entry)) {
                    resolve(entry, inflate(entry));
                } else {
                    later.add(entry);
                }
            }
            if (later.size() == left.size()) {
                return false; // a base that is not here, or one that is made from what it makes
            }
            left = later;
        }
        return true;
    }

    /// Whether it needs none, or one whose object is known by now; notes it.
    private boolean findsBase(Entry entry) {
        if (!entry.isDelta()) {
            return true;
        }
        Entry base = entry.baseId == null ? byOffset.get(entry.baseOffset) : byId.get(entry.baseId);
        entry.base = base == null || base.id == null ? null : base;
        return entry.base != null;
    }

    /// @param own what it inflates to
    private void resolve(Entry entry, byte[] own) throws DataFormatException {
        Entry base = entry.base;
        byte[] content = own;
        if (base != null) {
            entry.type = base.type;
            entry.depth = base.depth + 1;
            if (entry.depth > DEPTH_MAX) {
                throw new DataFormatException("a chain of more than " + DEPTH_MAX + " deltas");
            }
            content = PackDelta.apply(content(base), own, work);
        }
        work.keep(entry, content);
        GitObject.Type type = entry.type;
        String id = type == null ? "" : GitObject.packed(type, content).id();
        entry.id = id;
        byId.put(id, entry);
    }

    /// The content of an object whose base is known.
    private byte[] content(Entry entry) throws DataFormatException {
        byte[] known = work.cached(entry);
        if (known != null) {
            return known;
        }
        byte[] own = inflate(entry);
        Entry base = entry.base;
        byte[] content = base == null ? own : PackDelta.apply(content(base), own, work);
        work.keep(entry, content);
        return content;
    }

    /// What is before an object's octets: its type, its length in a pack, and what it is made from.
    private void readHeader(Entry entry) throws DataFormatException {
        int at = entry.offset;
        int octet = octet(at++);
        int kind = octet >> 4 & 7;
        long bytes = octet & 0xf;
        for (int shift = 4; octet >= MORE; shift += 7) {
            octet = octet(at++);
            bytes |= (long) (octet & 0x7f) << shift;
            if (octet == 0 || bytes > GitObject.BYTES_MAX || shift > Integer.SIZE) {
                throw new DataFormatException("a length that git would not write, or beyond the limit");
            }
        }
        entry.bytes = (int) bytes;
        if (kind == BY_OFFSET) {
            at = readOffset(entry, at);
        } else if (kind == BY_ID) {
            if (at > end - DIGEST_BYTES) {
                throw new DataFormatException("a pack is cut");
            }
            entry.baseId = HexFormat.of().formatHex(octets, at, at + DIGEST_BYTES);
            at += DIGEST_BYTES;
        } else {
            entry.type = type(kind);
        }
        entry.dataAt = at;
    }

    private static GitObject.Type type(int kind) throws DataFormatException {
        return switch (kind) {
            case 1 -> GitObject.Type.COMMIT;
            case 2 -> GitObject.Type.TREE;
            case 3 -> GitObject.Type.BLOB;
            case 4 -> GitObject.Type.TAG;
            default -> throw new DataFormatException("objects of type " + kind);
        };
    }

    /// How far before it the object begins that it is made from; returns where that ends.
    private int readOffset(Entry entry, int from) throws DataFormatException {
        int at = from;
        int octet = octet(at++);
        long before = octet & 0x7f;
        while (octet >= MORE && before <= OCTETS_MAX) {
            octet = octet(at++);
            before = before + 1 << 7 | octet & 0x7f;
        }
        if (before > entry.offset || !byOffset.containsKey((int) (entry.offset - before))) {
            throw new DataFormatException("an object that is made from what is none");
        }
        entry.baseOffset = (int) (entry.offset - before);
        return at;
    }

    private int octet(int at) throws DataFormatException {
        if (at >= end) {
            throw new DataFormatException("a pack is cut");
        }
        return octets[at] & 0xff;
    }

    /// What an object's octets inflate to; notes where they end.
    private byte[] inflate(Entry entry) throws DataFormatException {
        work.spend(entry.bytes);
        var inflater = new Inflater();
        try {
            inflater.setInput(octets, entry.dataAt, end - entry.dataAt);
            var content = new byte[entry.bytes + 1];
            int length = 0;
            while (!inflater.finished()) {
                int count = inflater.inflate(content, length, content.length - length);
                length += count;
                if (length > entry.bytes || count == 0 && !inflater.finished()) {
                    throw new DataFormatException("an object longer than it says, or cut");
                }
            }
            if (length != entry.bytes) {
                throw new DataFormatException("an object shorter than it says");
            }
            entry.dataEnd = entry.dataAt + Math.toIntExact(inflater.getBytesRead());
            return Arrays.copyOf(content, length);
        } finally {
            inflater.end();
        }
    }

    private int crc(Entry entry) {
        var crc = new CRC32();
        crc.update(octets, entry.offset, entry.dataEnd - entry.offset);
        return (int) crc.getValue();
    }
}
