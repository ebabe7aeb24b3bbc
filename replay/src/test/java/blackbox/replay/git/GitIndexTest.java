package blackbox.replay.git;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.replay.content.ContentMatch;
import blackbox.replay.content.Ties;
import blackbox.replay.content.Window;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Indexes of equal content are equal. The files are git 2.39.5's, of two working trees that were made alike, three
/// seconds apart: `offsets` has the extensions EOIE and IEOT, all but that and `v3` have a TREE that is complete.
class GitIndexTest {
    private static final long SECOND = 1_000_000_000;
    private static final Window A = new Window(1_795_611_318 * SECOND, 1_795_611_318 * SECOND);
    private static final Window B = new Window(1_795_611_321 * SECOND, 1_795_611_321 * SECOND);
    private static final String[] KINDS = {"v2", "v3", "v4", "offsets"};
    /// In the first entry.
    private static final int FIRST = 12;

    private static byte[] index(String name) throws IOException {
        try (InputStream in = Objects.requireNonNull(GitIndexTest.class.getResourceAsStream(name + ".index"))) {
            return in.readAllBytes();
        }
    }

    private static ContentMatch match(byte[] recorded, byte[] actual) throws IOException {
        return match(recorded, A, actual, B);
    }

    private static ContentMatch match(byte[] recorded, Window recordedRun, byte[] actual, Window actualRun)
            throws IOException {
        return match(recorded, recordedRun, actual, actualRun, IdTies.NONE);
    }

    private static ContentMatch match(byte[] recorded, Window recordedRun, byte[] actual, Window actualRun, IdTies ids)
            throws IOException {
        return GitIndex.compare(
                new ByteArrayInputStream(recorded), recordedRun, new ByteArrayInputStream(actual), actualRun, ids);
    }

    /// With a digest that is right.
    private static byte[] signed(byte[] index) throws GeneralSecurityException {
        MessageDigest digest = MessageDigest.getInstance("SHA-1");
        digest.update(index, 0, index.length - 20);
        System.arraycopy(digest.digest(), 0, index, index.length - 20, 20);
        return index;
    }

    private static byte[] changed(byte[] index, int at) throws GeneralSecurityException {
        byte[] changed = index.clone();
        changed[at] ^= 1;
        return signed(changed);
    }

    @Test
    void indexesOfTheSameContentAreEqual() throws Exception {
        for (String kind : KINDS) {
            byte[] a = index(kind + "-a");
            byte[] b = index(kind + "-b");
            assertNotNull(ContentMatch.of(new ByteArrayInputStream(a), new ByteArrayInputStream(b))
                    .difference());
            assertEquals(new ContentMatch(null, Ties.NONE, Ties.NONE), match(a, b), kind);
            assertNull(match(a, A, a, A).difference());
        }
    }

    /// Each octet but those of times, device, inode and digest.
    @Test
    void allElseCounts() throws Exception {
        for (String kind : KINDS) {
            byte[] a = index(kind + "-a");
            byte[] b = index(kind + "-b");
            int masked = 0;
            for (int at = 0; at < b.length - 20; at++) {
                Long octet = match(a, changed(b, at)).firstDifference();
                masked += octet == null ? 1 : 0;
            }
            int entries = ByteBuffer.wrap(b).getInt(8);
            // Not the highest octets of a time, which make it another run's.
            int own = entries * 24;
            assertEquals(true, masked <= own && masked >= own / 2, kind + ": " + masked + " octets of " + own);
            for (int field : new int[] {24, 28, 32, 36, 40, 59}) {
                assertEquals(FIRST + field, match(a, changed(b, FIRST + field)).firstDifference(), kind);
            }
            byte[] assumed = b.clone();
            assumed[FIRST + 60] |= (byte) 0x80;
            assertEquals(FIRST + 60, match(a, signed(assumed)).firstDifference(), "a flag");
            assertNull(match(a, changed(b, FIRST + 16)).difference(), "the device");
            assertNull(match(a, changed(b, FIRST + 23)).difference(), "the inode");
        }
    }

    /// The id of the first entry, and the one of the folder at the top.
    @Test
    void idsStandForEachOtherWhereTheyAreKnownTo() throws Exception {
        byte[] a = index("v2-a");
        byte[] b = index("v2-b");
        int tree = new String(b, StandardCharsets.ISO_8859_1).indexOf("TREE");
        int folder = new String(b, StandardCharsets.ISO_8859_1).indexOf('\n', tree) + 1;
        for (int at : new int[] {FIRST + 40, folder}) {
            byte[] other = changed(b, at + 5);
            assertEquals(at + 5, match(a, other).firstDifference());
            var ids = new IdTies();
            ids.add(hex(a, at), hex(other, at));
            assertNull(match(a, A, other, B, ids).difference());
            assertNotNull(match(other, B, a, A, ids).difference(), "the other way round");
            assertEquals(at + 5, match(a, A, changed(other, at + 5 + 1), B, ids).firstDifference(), "another id");
        }
    }

    private static String hex(byte[] index, int at) {
        return HexFormat.of().formatHex(index, at, at + 20);
    }

    @Test
    void anotherRunsTimesStayAsTheyAre() throws Exception {
        byte[] a = index("v2-a");
        byte[] b = index("v2-b");
        assertEquals(FIRST + 3, match(a, A, b, A).firstDifference());
        assertEquals(
                FIRST + 3,
                match(a, A, b, new Window(B.fromNs() + 3 * SECOND, B.toNs() + 3 * SECOND))
                        .firstDifference());
        assertNull(match(a, A, b, new Window(B.fromNs() - SECOND, B.toNs())).difference());
        // A file that was there before both runs has the same time in both.
        byte[] oldA = a.clone();
        byte[] oldB = b.clone();
        for (byte[] each : new byte[][] {oldA, oldB}) {
            ByteBuffer.wrap(each).putInt(FIRST + 8, 1_700_000_000);
            signed(each);
        }
        ByteBuffer.wrap(oldA).putInt(FIRST + 12, 7);
        ByteBuffer.wrap(oldB).putInt(FIRST + 12, 7);
        assertNull(match(signed(oldA), signed(oldB)).difference());
        oldB[FIRST + 15]++;
        assertEquals(FIRST + 15, match(oldA, signed(oldB)).firstDifference());
    }

    /// Its files changed their status when the workspace was unpacked, before the agent's clock was set.
    @Test
    void aWorkspaceIsPutThereBeforeTheRun() throws Exception {
        byte[] a = index("v2-a");
        byte[] b = index("v2-b");
        byte[] early = index("v2-b");
        ByteBuffer.wrap(a).putInt(FIRST, 1_767_225_647);
        ByteBuffer.wrap(early).putInt(FIRST, 1_767_225_649);
        assertNull(match(signed(a), signed(early)).difference());
        assertEquals(FIRST, match(a, b).firstDifference(), "one of them is of the run");
        ByteBuffer.wrap(early).putInt(FIRST + 8, 1_767_225_649);
        assertEquals(FIRST + 8, match(a, signed(early)).firstDifference(), "what a program can set");
    }

    @Test
    void timesThatGitDidNotAskForAreZero() throws Exception {
        byte[] a = index("v2-a");
        byte[] b = index("v2-b");
        Arrays.fill(b, FIRST, FIRST + 24, (byte) 0);
        assertNull(match(a, signed(b)).difference());
    }

    @Test
    void aDigestThatIsWrongLeavesBothAsTheyAre() throws Exception {
        byte[] a = index("v2-a");
        byte[] b = index("v2-b");
        b[b.length - 1] ^= 1;
        assertEquals(FIRST + 3, match(a, b).firstDifference());
        assertEquals(FIRST + 3, match(b, B, a, A).firstDifference());
    }

    @Test
    void extensionsCountOctetForOctet() throws Exception {
        byte[] a = with(index("v2-a"), "UNTR", new byte[] {1, 2, 3});
        byte[] b = with(index("v2-b"), "UNTR", new byte[] {1, 2, 4});
        assertEquals(a.length - 21, match(a, b).firstDifference());
        assertNull(match(a, with(index("v2-b"), "UNTR", new byte[] {1, 2, 3})).difference());
        assertNull(match(with(index("v2-a"), "link", new byte[20]), with(index("v2-b"), "link", new byte[20]))
                .difference());
    }

    private static byte[] with(byte[] index, String name, byte[] content) throws GeneralSecurityException {
        var all = ByteBuffer.allocate(index.length + 8 + content.length);
        all.put(index, 0, index.length - 20).put(name.getBytes(StandardCharsets.US_ASCII));
        all.putInt(content.length).put(content);
        return signed(all.array());
    }

    @Test
    void whatIsMalformedIsComparedAsItIs() throws Exception {
        byte[] a = index("v2-a");
        byte[] b = index("v2-b");
        for (int version : new int[] {0, 1, 5, -1}) {
            byte[] other = b.clone();
            ByteBuffer.wrap(other).putInt(4, version);
            assertEquals(FIRST + 3, match(put(a, 4, version), signed(other)).firstDifference());
        }
        for (int count : new int[] {5, 1_000_000, -1, Integer.MAX_VALUE}) {
            assertEquals(FIRST + 3, match(put(a, 8, count), put(b, 8, count)).firstDifference());
        }
        byte[] longName = changed(b, FIRST + 61);
        assertEquals(FIRST + 3, match(a, longName).firstDifference());
        byte[] extended = b.clone();
        extended[FIRST + 60] |= 0x40;
        assertEquals(FIRST + 3, match(a, signed(extended)).firstDifference());
        byte[] extension = with(b, "UNTR", new byte[4]);
        ByteBuffer.wrap(extension).putInt(extension.length - 28, 5);
        assertEquals(FIRST + 3, match(a, signed(extension)).firstDifference());
        byte[] name = with(b, "UN\nR", new byte[4]);
        assertEquals(FIRST + 3, match(a, name).firstDifference());
        for (int length : new int[] {0, 1, 12, 31, 100}) {
            byte[] cut = Arrays.copyOf(b, length);
            assertEquals(
                    Math.min(length, FIRST + 3),
                    match(a, length < 32 ? cut : signed(cut)).firstDifference());
        }
        byte[] empty = signed(Arrays.copyOf(put(b, 8, 0), 32));
        assertNull(match(empty, empty).difference());
    }

    private static byte[] put(byte[] index, int at, int value) throws GeneralSecurityException {
        byte[] other = index.clone();
        ByteBuffer.wrap(other).putInt(at, value);
        return signed(other);
    }

    /// Nothing that a guest writes makes the comparison fail.
    @Test
    void hostileIndexesAreOnlyCompared() throws Exception {
        long seed = new Random().nextLong();
        var random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            byte[] a = index(KINDS[i % KINDS.length] + "-a");
            byte[] b = a.clone();
            for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
                b[random.nextInt(b.length)] = (byte) (random.nextBoolean() ? random.nextInt() : -1);
            }
            if (random.nextInt(4) == 0) {
                b = Arrays.copyOf(b, 20 + random.nextInt(b.length));
            }
            signed(b);
            Long octet = match(a, A, b, A).firstDifference();
            int mismatch = Arrays.mismatch(a, b);
            String where = "seed " + seed + ", " + i;
            assertEquals(true, octet == null || octet >= mismatch, where);
            assertEquals(true, octet != null || a.length == b.length, where);
        }
    }
}
