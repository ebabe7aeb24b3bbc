package blackbox.replay.git;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What git packs is read as git reads it, and nothing else is a pack.
final class PackFileTest {
    private static final byte[] A = PackBytes.octets("an object");
    private static final byte[] B = PackBytes.octets("an object and more");
    private static final byte[] MORE = PackBytes.octets(" and more");
    private static final byte[] DELTA = PackBytes.appending(A.length, MORE);

    @TempDir
    private Path folder;

    private static PackFile valid(byte[] octets) {
        return present(read(octets));
    }

    private static <T> T present(@Nullable T value) {
        return Objects.requireNonNull(value);
    }

    private static @Nullable PackFile read(byte[] octets) {
        return PackFile.of(octets, PackBytes.name(octets), new PackWork(PackWork.OCTETS_MAX));
    }

    private static void assertInvalid(PackBytes pack, String why) {
        assertNull(read(pack.done()), why);
    }

    /// With deltas by offset and by id, an index and a reverse index.
    @Test
    void gitsOwnPacksAreRead() throws Exception {
        GitFolder git = GitFolder.create(folder.resolve("repo"));
        var content = new StringBuilder("x".repeat(300));
        for (int i = 0; i < 6; i++) {
            content.append("line ").append(i * 7919).append('\n');
            git.write("grows", content.toString());
            git.write("file" + i, "content " + i + "\n");
            git.commit(1_700_000_000 + i, "change " + i);
        }
        git.git(1_700_000_100, "tag", "-a", "-m", "v1", "v1");
        Set<String> all = git.loose();
        for (String byOffset : new String[] {"true", "false"}) {
            git.git(
                    0,
                    "-c",
                    "repack.useDeltaBaseOffset=" + byOffset,
                    "-c",
                    "pack.writeReverseIndex=true",
                    "repack",
                    "-adfq");
            PackFile pack = valid(Files.readAllBytes(git.path(git.pack() + ".pack")));
            assertEquals(all, pack.ids());
            assertArrayEquals(Files.readAllBytes(git.path(git.pack() + ".idx")), PackIndex.index(pack));
            assertArrayEquals(Files.readAllBytes(git.path(git.pack() + ".rev")), PackIndex.reverse(pack));
            String said = git.git(
                    0, "verify-pack", "-v", git.path(git.pack() + ".idx").toString());
            assertTrue(said.contains("chain length = "), said);
            for (String id : all) {
                assertEquals(id, present(pack.read(id)).id());
            }
            assertNull(pack.read("0".repeat(40)));
        }
    }

    @Test
    void oneThatIsPutTogetherIsRead() {
        var pack = new PackBytes().blob(A).blob(new byte[0]).blob(new byte[300]);
        valid(pack.done());
        var before = new PackBytes().byId(PackBytes.id(A), DELTA).blob(A);
        assertEquals(
                new TreeSet<>(Set.of(PackBytes.id(A), PackBytes.id(B))),
                valid(before.done()).ids());
        var after = new PackBytes().blob(A);
        after.byOffset(after.at() - 12, DELTA);
        assertEquals(
                PackBytes.id(B),
                present(valid(after.done()).read(PackBytes.id(B))).id());
        assertEquals(0, valid(new PackBytes().done()).ids().size());
    }

    @Test
    void anotherOctetAnywhereIsFound() throws Exception {
        byte[] pack = new PackBytes().blob(A).byId(PackBytes.id(A), DELTA).done();
        Set<String> ids = valid(pack).ids();
        int unchanged = 0;
        for (int at = 0; at < pack.length; at++) {
            byte[] cut = Arrays.copyOf(pack, at);
            assertNull(PackFile.of(cut, PackBytes.name(pack), new PackWork(PackWork.OCTETS_MAX)), "cut at " + at);
            for (int bit = 0; bit < 8; bit++) {
                byte[] other = pack.clone();
                other[at] ^= (byte) (1 << bit);
                assertNull(
                        PackFile.of(other, PackBytes.name(pack), new PackWork(PackWork.OCTETS_MAX)),
                        "octet " + at + ", called as before");
                if (at < pack.length - 20) {
                    // What zlib leaves free at its end may be anything; then all objects are the same.
                    PackFile signed = read(PackBytes.changed(pack, at, 1 << bit));
                    for (String id : signed == null ? Set.<String>of() : signed.ids()) {
                        assertEquals(id, present(present(signed).read(id)).id());
                        unchanged += ids.contains(id) ? 1 : 0;
                    }
                }
            }
        }
        assertTrue(unchanged < 40, unchanged + " of some 1,300 objects");
    }

    @Test
    void whatIsNotOnePieceIsNone() {
        byte[] deflated = PackBytes.deflated(A);
        assertInvalid(new PackBytes().blob(A).stray(new byte[1]), "an octet behind");
        assertInvalid(new PackBytes().blob(A).stray(new byte[1]).blob(B), "an octet between");
        assertInvalid(new PackBytes().blob(A).miscounted(1), "one too few");
        assertInvalid(new PackBytes().blob(A).blob(B).miscounted(-1), "one too many");
        assertInvalid(new PackBytes().blob(A).blob(A), "one twice");
        assertInvalid(new PackBytes().object(PackBytes.BLOB, A.length + 1, new byte[0], deflated), "too short");
        assertInvalid(new PackBytes().object(PackBytes.BLOB, A.length - 1, new byte[0], deflated), "too long");
        assertInvalid(new PackBytes().object(0, A.length, new byte[0], deflated), "no type");
        assertInvalid(new PackBytes().object(5, A.length, new byte[0], deflated), "a type for later");
        assertInvalid(new PackBytes().miscounted(-1), "a count below zero");
        assertInvalid(new PackBytes().miscounted(PackFile.OBJECTS_MAX + 1), "a count beyond the limit");
        byte[] padded = {(byte) (PackBytes.BLOB << 4 | A.length | 0x80), 0};
        assertInvalid(new PackBytes().stray(padded).stray(deflated).miscounted(1), "a length that is filled up");
    }

    @Test
    void deltasOfWhatIsNotThereAreNone() {
        assertInvalid(new PackBytes().byId(PackBytes.id(A), DELTA), "a base elsewhere");
        assertInvalid(new PackBytes().byOffset(12, DELTA), "before the start");
        assertInvalid(new PackBytes().blob(A).byOffset(1, DELTA), "within an object");
        assertInvalid(new PackBytes().blob(A).byOffset(0, DELTA), "from itself");
        assertInvalid(new PackBytes().byId(PackBytes.id(B), DELTA).byId(PackBytes.id(A), DELTA), "a cycle");
        assertInvalid(new PackBytes().byId(PackBytes.id(B), DELTA), "itself");
        assertInvalid(new PackBytes().blob(B).byId(PackBytes.id(B), DELTA), "for another length");
        byte[] id = PackBytes.octets("short");
        assertInvalid(new PackBytes().stray(new byte[] {0x75}).stray(id).miscounted(1), "cut in the id");
    }

    @Test
    void aDeltaStaysWithinItsObject() throws Exception {
        var work = new PackWork(PackWork.OCTETS_MAX);
        assertArrayEquals(B, PackDelta.apply(A, DELTA, work));
        byte[] beyond = DELTA.clone();
        beyond[3]++;
        byte[] early = Arrays.copyOf(DELTA, DELTA.length - 1);
        byte[] late = PackBytes.joined(DELTA, new byte[] {1, 'x'});
        byte[] reserved = PackBytes.joined(DELTA, new byte[] {0});
        byte[] far = {(byte) A.length, 1, (byte) 0x9f, -1, -1, -1, -1, 1};
        byte[] huge = {(byte) A.length, -1, -1, -1, -1, 0x7f};
        byte[] endless = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
        for (byte[] delta : new byte[][] {beyond, early, late, reserved, far, huge, endless, {}, {(byte) A.length}}) {
            assertThrows(DataFormatException.class, () -> PackDelta.apply(A, delta, work));
        }
        int refused = 0;
        for (int at = 0; at < DELTA.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] other = DELTA.clone();
                other[at] ^= (byte) (1 << bit);
                try {
                    PackDelta.apply(A, other, work);
                } catch (DataFormatException e) {
                    refused++; // any other exception is none that a guest may cause
                }
            }
        }
        assertTrue(refused > 30, refused + " refused");
    }

    /// Chains and contents have bounds.
    @Test
    void bombsAreNotInflated() {
        int[] depths = {PackFile.DEPTH_MAX, PackFile.DEPTH_MAX + 1};
        for (int depth : depths) {
            var chain = new PackBytes().blob(new byte[1]);
            byte[] content = new byte[1];
            for (int i = 0; i < depth; i++) {
                chain.byId(PackBytes.id(content), PackBytes.appending(content.length, new byte[1]));
                content = new byte[content.length + 1];
            }
            assertEquals(depth == PackFile.DEPTH_MAX, read(chain.done()) != null, depth + " deltas");
        }
        byte[] large = PackBytes.deflated(new byte[GitObject.BYTES_MAX + 1]);
        var bomb = new PackBytes().object(PackBytes.BLOB, GitObject.BYTES_MAX + 1, new byte[0], large);
        assertInvalid(bomb, "an object beyond the limit");
        var lying = new PackBytes().object(PackBytes.BLOB, 100, new byte[0], large);
        assertInvalid(lying, "one that does not say so");
        var many = new PackBytes();
        for (int i = 0; i < 10; i++) {
            byte[] zeros = new byte[1_000_000 + i];
            many.blob(zeros);
        }
        byte[] pack = many.done();
        assertTrue(pack.length < 20_000);
        assertNull(PackFile.of(pack, PackBytes.name(pack), new PackWork(9_000_000)), "all together");
        PackFile kept = present(PackFile.of(pack, PackBytes.name(pack), new PackWork(10_100_000)));
        present(kept.read(PackBytes.id(new byte[1_000_009])));
        byte[] shared = PackBytes.octets("x");
        assertNull(kept.read(PackBytes.id(shared)));
    }
}
