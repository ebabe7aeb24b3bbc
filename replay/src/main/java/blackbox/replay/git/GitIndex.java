package blackbox.replay.git;

import blackbox.replay.content.ContentMatch;
import blackbox.replay.content.Window;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/// Compares git's index files (`Documentation/gitformat-index.txt`), versions 2 to 4 with SHA-1, as git 2.39
/// writes them. Each entry has what stat(2) said of its file in the working tree, and the digest at the end covers
/// that: two indexes of the same content are never equal octet for octet.
///
/// Masked are times of status change and of modification that on both sides lie in the run, or are zero (git has
/// not asked stat yet); times of status change that on both sides lie before the run, which are those of a workspace
/// that was put there before the agent began, and which no program can set; where a time of status change is masked,
/// device and inode, too; and the digests, once both were found to be right. Ids of files and folders may stand for
/// each other. All else counts, also sizes, owners, flags, and extensions. The cache of untracked files (`UNTR`) is one
/// that has stat data of its own, and so makes two indexes differ.
///
/// Inodes of a workspace are masked although one archive is unpacked in one order: the file system that it is unpacked
/// to also holds what the guest writes while it boots, and which inodes are free by then was not proved to be the same.
public final class GitIndex {

    /// The longest that is understood; a longer one is compared as it is.
    public static final int BYTES_MAX = 64 << 20;

    private static final int SIGNATURE = 0x44495243; // DIRC
    private static final int HEADER_BYTES = 12;
    private static final int DIGEST_BYTES = 20;
    private static final int EXTENSION_HEADER_BYTES = 8;

    /// Of an entry: where its fields are, and where its name begins.
    private static final int MTIME = 8;
    private static final int DEVICE = 16;
    private static final int MODE = 24;
    private static final int ID = 40;
    private static final int FLAGS = 60;
    private static final int NAME = 62;
    private static final int NAME_EXTENDED = 64;
    private static final int FLAG_EXTENDED = 0x4000;
    private static final int NAME_LENGTH = 0xfff;

    private static final long SECOND_NS = 1_000_000_000;

    private final ByteBuffer octets;
    private final int end;
    private final Window run;
    private int version;
    private int[] entries = {};
    /// Where the ids of folders are, in the extension TREE.
    private final List<Integer> folders = new ArrayList<>();
    /// Of the entry before.
    private int nameBytes;

    private GitIndex(byte[] octets, Window run) {
        this.octets = ByteBuffer.wrap(octets);
        this.end = octets.length - DIGEST_BYTES;
        this.run = run;
    }

    /// Compares two files, which should be indexes. If either is not a well-formed one, or is longer than
    /// [#BYTES_MAX], both are compared as they are.
    ///
    /// @param recordedRun when the recorded run's guest ran, by its own clock
    /// @param actualRun the same of the replay
    /// @param ids which stand for each other
    public static ContentMatch compare(
            InputStream recorded, Window recordedRun, InputStream actual, Window actualRun, IdTies ids)
            throws IOException {
        byte[] expected = recorded.readNBytes(BYTES_MAX);
        byte[] found = actual.readNBytes(BYTES_MAX);
        var recordedIndex = new GitIndex(expected, recordedRun);
        var actualIndex = new GitIndex(found, actualRun);
        if (recordedIndex.isWellFormed() && actualIndex.isWellFormed()) {
            mask(recordedIndex, actualIndex, ids);
        }
        return ContentMatch.of(rejoined(expected, recorded), rejoined(found, actual));
    }

    private static InputStream rejoined(byte[] first, InputStream rest) {
        return new SequenceInputStream(new ByteArrayInputStream(first), rest);
    }

    /// Also finds out where its entries are.
    private boolean isWellFormed() {
        if (end < HEADER_BYTES || octets.getInt(0) != SIGNATURE || !hasItsDigest()) {
            return false;
        }
        version = octets.getInt(4);
        int count = octets.getInt(8);
        if (version < 2 || version > 4 || count < 0 || count > end / NAME) {
            return false;
        }
        entries = new int[count];
        int at = HEADER_BYTES;
        for (int i = 0; i < count; i++) {
            entries[i] = at;
            at = afterEntry(at);
            if (at < 0) {
                return false;
            }
        }
        return hasExtensions(at);
    }

    /// Masks what is to be masked on both sides, as far as their entries are at the same places; where they are
    /// not, something else differs before.
    private static void mask(GitIndex a, GitIndex b, IdTies ids) {
        for (int i = 0; i < Math.min(a.entries.length, b.entries.length) && a.entries[i] == b.entries[i]; i++) {
            int at = a.entries[i];
            if (a.isOfRun(at) && b.isOfRun(at) || a.isBeforeRun(at) && b.isBeforeRun(at)) {
                zero(a, b, at, at + MTIME);
                zero(a, b, at + DEVICE, at + MODE);
            }
            if (a.isOfRun(at + MTIME) && b.isOfRun(at + MTIME)) {
                zero(a, b, at + MTIME, at + DEVICE);
            }
            tie(a, b, at + ID, ids);
        }
        if (a.folders.equals(b.folders)) {
            a.folders.forEach(at -> tie(a, b, at, ids));
        }
        if (a.end == b.end) {
            zero(a, b, a.end, a.end + DIGEST_BYTES);
        }
    }

    /// Puts the recorded id in place of one that stands for it.
    private static void tie(GitIndex a, GitIndex b, int at, IdTies ids) {
        if (ids.isPair(a.id(at), b.id(at))) {
            System.arraycopy(a.octets.array(), at, b.octets.array(), at, DIGEST_BYTES);
        }
    }

    private String id(int at) {
        return HexFormat.of().formatHex(octets.array(), at, at + DIGEST_BYTES);
    }

    private boolean hasItsDigest() {
        MessageDigest digest = GitDigest.sha1();
        digest.update(octets.array(), 0, end);
        return Arrays.equals(digest.digest(), 0, DIGEST_BYTES, octets.array(), end, end + DIGEST_BYTES);
    }

    /// Where an entry ends, or -1 if it is malformed.
    private int afterEntry(int at) {
        if (end - at < NAME) {
            return -1;
        }
        int flags = octets.getShort(at + FLAGS) & 0xffff;
        boolean extended = (flags & FLAG_EXTENDED) != 0;
        if (extended && version < 3) {
            return -1;
        }
        int name = at + (extended ? NAME_EXTENDED : NAME);
        return version < 4 ? afterPadded(at, name, flags & NAME_LENGTH) : afterCompressed(name, flags & NAME_LENGTH);
    }

    /// A name that is filled up with zeros, one to eight, so that its entry is a multiple of eight octets.
    private int afterPadded(int at, int name, int length) {
        int zero = zeroFrom(name);
        int next = at + (zero - at + 8) / 8 * 8;
        if (zero < 0 || next > end || !hasLength(zero - name, length)) {
            return -1;
        }
        for (int i = zero; i < next; i++) {
            if (octets.get(i) != 0) {
                return -1;
            }
        }
        return next;
    }

    /// A name that says how many octets to take from the end of the one before it, and what follows then.
    private int afterCompressed(int name, int length) {
        long removed = 0;
        int at = name;
        for (boolean more = true; more; at++) {
            if (at >= end || removed > nameBytes) {
                return -1;
            }
            int octet = octets.get(at) & 0xff;
            removed = (at == name ? 0 : removed + 1 << 7) + (octet & 0x7f);
            more = octet > 0x7f;
        }
        int zero = zeroFrom(at);
        if (zero < 0 || removed > nameBytes) {
            return -1;
        }
        nameBytes = nameBytes - (int) removed + zero - at;
        return hasLength(nameBytes, length) ? zero + 1 : -1;
    }

    private int zeroFrom(int from) {
        for (int i = from; i < end; i++) {
            if (octets.get(i) == 0) {
                return i;
            }
        }
        return -1;
    }

    private static boolean hasLength(int bytes, int length) {
        return bytes > 0 && length == Math.min(bytes, NAME_LENGTH);
    }

    private boolean isOfRun(int at) {
        long ns = time(at);
        return ns == 0 || ns > 0 && run.has(ns, 1);
    }

    private boolean isBeforeRun(int at) {
        long ns = time(at);
        return ns > 0 && ns < run.fromNs();
    }

    /// The time in nanoseconds since 1970, or -1 if it is none.
    private long time(int at) {
        long seconds = octets.getInt(at) & 0xffff_ffffL;
        long nanos = octets.getInt(at + Integer.BYTES) & 0xffff_ffffL;
        return nanos < SECOND_NS ? seconds * SECOND_NS + nanos : -1;
    }

    private static void zero(GitIndex a, GitIndex b, int from, int to) {
        Arrays.fill(a.octets.array(), from, to, (byte) 0);
        Arrays.fill(b.octets.array(), from, to, (byte) 0);
    }

    /// Whether the rest up to the digest is extensions, each with a name and a length.
    private boolean hasExtensions(int from) {
        int at = from;
        while (at < end) {
            if (end - at < EXTENSION_HEADER_BYTES) {
                return false;
            }
            String name = new String(octets.array(), at, 4, StandardCharsets.ISO_8859_1);
            long bytes = octets.getInt(at + 4) & 0xffff_ffffL;
            if (!name.chars().allMatch(letter -> letter > ' ' && letter < 0x7f)
                    || bytes > end - at - EXTENSION_HEADER_BYTES) {
                return false;
            }
            int next = at + EXTENSION_HEADER_BYTES + (int) bytes;
            if (name.equals("TREE")) {
                findFolders(at + EXTENSION_HEADER_BYTES, next);
            }
            at = next;
        }
        return true;
    }

    /// Each folder has its name, NUL, the number of its entries, a space, that of its folders, a line feed, and its
    /// id unless the first number is negative. What is malformed ends this.
    private void findFolders(int from, int to) {
        int at = from;
        while (at < to) {
            int counts = zeroFrom(at) + 1;
            int line = counts;
            while (line < to && octets.get(line) != '\n') {
                line++;
            }
            if (counts == 0 || line >= to) {
                return;
            }
            boolean known = octets.get(counts) != '-';
            if (known && to - line > DIGEST_BYTES) {
                folders.add(line + 1);
            }
            at = line + 1 + (known ? DIGEST_BYTES : 0);
        }
    }
}
