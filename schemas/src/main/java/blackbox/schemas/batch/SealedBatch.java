package blackbox.schemas.batch;

import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.Sha256;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/// A sealed batch: consecutive leaves of one run, the hash of the batch before, and a signed checkpoint of
/// the run's tree up to its last leaf, which is always a host heartbeat. Immutable; see `schemas/batch.md`.
///
/// `octets` are the batch's exact encoding; everything else is read from them.
public final class SealedBatch {

    /// Version of the encoding.
    public static final byte VERSION = 1;

    /// A batch's longest encoding, in octets.
    public static final int BYTES_MAX = 4 << 20;

    /// The most leaves one batch has.
    public static final int LEAVES_MAX = 65_536;

    private static final int MAGIC = 0x42424231;
    private static final int CHECKPOINT_BYTES_MAX = 4_096;

    private final byte[] octets;
    private final RunId run;
    private final long sequence;
    private final long firstIndex;
    private final int count;
    private final long sealedAtNs;
    private final Hash previous;
    private final int leavesOffset;
    private final int leavesLength;
    private final String checkpoint;

    private SealedBatch(byte[] octets) throws MalformedBatchException {
        this.octets = octets;
        ByteBuffer in = ByteBuffer.wrap(octets);
        try {
            require(octets.length <= BYTES_MAX, "it is longer than " + BYTES_MAX + " octets");
            require(in.getInt() == MAGIC && in.get() == VERSION, "it does not start as a version 1 batch");
            var id = new byte[26];
            in.get(id);
            this.run = new RunId(new String(id, StandardCharsets.ISO_8859_1));
            this.sequence = in.getLong();
            this.firstIndex = in.getLong();
            this.count = in.getInt();
            this.sealedAtNs = in.getLong();
            var hash = new byte[Hash.LENGTH];
            in.get(hash);
            this.previous = Hash.copyOf(hash, 0);
            require(
                    sequence >= 0 && firstIndex >= 0 && count > 0 && count <= LEAVES_MAX,
                    "its counts are out of range");
            this.leavesLength = in.getInt();
            this.leavesOffset = in.position();
            require(leavesLength >= 0 && leavesLength <= in.remaining(), "its leaves are cut off");
            in.position(leavesOffset + leavesLength);
            int checkpointLength = in.getInt();
            require(
                    checkpointLength > 0 && checkpointLength <= CHECKPOINT_BYTES_MAX,
                    "its checkpoint's length is out of range");
            require(checkpointLength == in.remaining(), "its length does not fit its contents");
            this.checkpoint = new String(octets, in.position(), checkpointLength, StandardCharsets.UTF_8);
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            throw new MalformedBatchException(
                    "the batch is malformed: " + e.getClass().getSimpleName());
        }
        checkLeaves();
    }

    private void checkLeaves() throws MalformedBatchException {
        LeafCursor leaves = leaves();
        int seen = 0;
        while (leaves.next()) {
            seen++;
        }
        require(leaves.atEnd() && seen == count, "its leaves do not add up");
    }

    private static void require(boolean holds, String what) throws MalformedBatchException {
        if (!holds) {
            throw new MalformedBatchException("the batch is malformed: " + what);
        }
    }

    /// Reads a batch; the array is kept and must not be changed afterwards.
    ///
    /// @throws MalformedBatchException when any length, count or version in it is wrong
    public static SealedBatch decode(byte[] octets) throws MalformedBatchException {
        return new SealedBatch(octets);
    }

    /// Encodes a batch from its parts. `leaves[0, leavesLength)` are entries as [LeafCursor] reads them.
    public static SealedBatch encode(BatchHeader header, byte[] leaves, int leavesLength, String checkpoint) {
        byte[] note = checkpoint.getBytes(StandardCharsets.UTF_8);
        ByteBuffer out =
                ByteBuffer.allocate(4 + 1 + 26 + 8 + 8 + 4 + 8 + Hash.LENGTH + 4 + leavesLength + 4 + note.length);
        out.putInt(MAGIC).put(VERSION).put(header.run().value().getBytes(StandardCharsets.ISO_8859_1));
        out.putLong(header.sequence())
                .putLong(header.firstIndex())
                .putInt(header.count())
                .putLong(header.sealedAtNs());
        out.put(header.previous().toBytes());
        out.putInt(leavesLength).put(leaves, 0, leavesLength);
        out.putInt(note.length).put(note);
        try {
            return new SealedBatch(out.array());
        } catch (MalformedBatchException e) {
            throw new IllegalArgumentException("these parts make no batch", e);
        }
    }

    /// The exact encoding; not a copy, not to be changed.
    public byte[] octets() {
        return octets;
    }

    public RunId run() {
        return run;
    }

    /// The batch's number within its run, from 0.
    public long sequence() {
        return sequence;
    }

    /// Index of the first leaf within the run.
    public long firstIndex() {
        return firstIndex;
    }

    /// How many leaves.
    public int count() {
        return count;
    }

    /// Index behind the last leaf: the tree size that the checkpoint signs.
    public long endIndex() {
        return firstIndex + count;
    }

    /// When it was sealed, nanoseconds since the epoch on the host's clock.
    public long sealedAtNs() {
        return sealedAtNs;
    }

    /// Hash of the batch before; [Hash#ZERO] for the first.
    public Hash previous() {
        return previous;
    }

    /// The signed checkpoint note.
    public String checkpoint() {
        return checkpoint;
    }

    /// What the next batch names: SHA-256 over everything but the leaves, which the checkpoint's root stands for.
    public Hash hash() {
        MessageDigest digest = Sha256.digest();
        digest.update(octets, 0, leavesOffset);
        int behind = leavesOffset + leavesLength;
        digest.update(octets, behind, octets.length - behind);
        return Hash.copyOf(digest.digest(), 0);
    }

    /// A new cursor over the leaves.
    public LeafCursor leaves() {
        return new LeafCursor(octets, leavesOffset, leavesOffset + leavesLength);
    }
}
