package blackbox.schemas.batch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class SealedBatchTest {
    private static final RunId RUN = new RunId("01arz3ndektsv4rrffq69g5fav");
    private static final String CHECKPOINT = "a note ✓\n";

    @Test
    void whatWasEncodedIsWhatIsReadAgain() throws MalformedBatchException {
        byte[] leaves = leaves(300);
        SealedBatch encoded = SealedBatch.encode(header(7, 1_000, 300), leaves, leaves.length, CHECKPOINT);
        SealedBatch read = SealedBatch.decode(encoded.octets());
        assertEquals(RUN, read.run());
        assertEquals(7, read.sequence());
        assertEquals(1_000, read.firstIndex());
        assertEquals(300, read.count());
        assertEquals(1_300, read.endIndex());
        assertEquals(42, read.sealedAtNs());
        assertEquals(Hash.sha256(new byte[] {1}), read.previous());
        assertEquals(CHECKPOINT, read.checkpoint());
        assertEquals(encoded.hash(), read.hash());
        assertEquals(encoded.endIndex(), read.endIndex());
        LeafCursor ours = encoded.leaves();
        LeafCursor theirs = read.leaves();
        while (ours.next()) {
            assertTrue(theirs.next());
            assertArrayEquals(
                    Arrays.copyOfRange(ours.array(), ours.offset(), ours.offset() + ours.length()),
                    Arrays.copyOfRange(theirs.array(), theirs.offset(), theirs.offset() + theirs.length()));
        }
        assertTrue(ours.atEnd() && theirs.atEnd());
    }

    @Test
    void partsThatMakeNoBatchAreNotEncoded() {
        byte[] leaves = leaves(1);
        assertRefused(header(-1, 0, 1), leaves, CHECKPOINT);
        assertRefused(header(0, -1, 1), leaves, CHECKPOINT);
        assertRefused(header(0, 0, 0), leaves, CHECKPOINT);
        assertRefused(header(0, 0, SealedBatch.LEAVES_MAX + 1), leaves, CHECKPOINT);
        assertRefused(header(0, 0, 1), leaves, "");
        assertRefused(header(0, 0, 1), leaves, "n".repeat(5_000));
        assertRefused(header(0, 0, 1), new byte[SealedBatch.BYTES_MAX], CHECKPOINT);
    }

    @Test
    void octetsThatDoNotAddUpAreNotRead() {
        byte[] leaves = leaves(3);
        byte[] miscounted = SealedBatch.encode(header(0, 0, 2), leaves, leaves.length, CHECKPOINT)
                .octets();
        assertThrows(MalformedBatchException.class, () -> SealedBatch.decode(miscounted));
        byte[] whole = SealedBatch.encode(header(0, 0, 3), leaves, leaves.length, CHECKPOINT)
                .octets();
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThrows(MalformedBatchException.class, () -> SealedBatch.decode(cut));
        }
        assertThrows(MalformedBatchException.class, () -> SealedBatch.decode(Arrays.copyOf(whole, whole.length + 1)));
    }

    private static void assertRefused(BatchHeader header, byte[] leaves, String checkpoint) {
        assertThrows(
                IllegalArgumentException.class, () -> SealedBatch.encode(header, leaves, leaves.length, checkpoint));
    }

    private static BatchHeader header(long sequence, long firstIndex, int count) {
        return new BatchHeader(RUN, sequence, firstIndex, count, 42, Hash.sha256(new byte[] {1}));
    }

    /// So many entries of one octet each.
    private static byte[] leaves(int count) {
        var leaves = new byte[count * (LeafCursor.ENTRY_OVERHEAD + 1)];
        for (int at = 0; at < leaves.length; at += LeafCursor.ENTRY_OVERHEAD + 1) {
            leaves[LeafCursor.putEntryHeader(leaves, at, 1)] = (byte) at;
        }
        return leaves;
    }
}
