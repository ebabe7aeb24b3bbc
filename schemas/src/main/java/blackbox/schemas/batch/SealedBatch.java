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
    private static final int RUN_BYTES = 26;
    private static final int LEAVES_AT = 4 + 1 + RUN_BYTES + 8 + 8 + 4 + 8 + Hash.LENGTH + 4;
    private static final int CHECKPOINT_BYTES_MAX = 4_096;

    private final byte[] octets;
    private final BatchHeader header;
    private final int leavesLength;
    private final String checkpoint;

    private SealedBatch(byte[] octets, BatchHeader header, int leavesLength, String checkpoint) {
        this.octets = octets;
        this.header = header;
        this.leavesLength = leavesLength;
        this.checkpoint = checkpoint;
    }

    /// Reads a batch; the array is kept and must not be changed afterwards.
    ///
    /// @throws MalformedBatchException when any length, count or version in it is wrong
    public static SealedBatch decode(byte[] octets) throws MalformedBatchException {
        ByteBuffer in = ByteBuffer.wrap(octets);
        try {
            requireLength(octets.length);
            require(in.getInt() == MAGIC && in.get() == VERSION, "it does not start as a version 1 batch");
            BatchHeader header = header(in);
            requireCounts(header);
            int leavesLength = in.getInt();
            require(leavesLength >= 0 && leavesLength <= in.remaining(), "its leaves are cut off");
            in.position(LEAVES_AT + leavesLength);
            int checkpointLength = in.getInt();
            requireCheckpoint(checkpointLength);
            require(checkpointLength == in.remaining(), "its length does not fit its contents");
            String checkpoint = new String(octets, in.position(), checkpointLength, StandardCharsets.UTF_8);
            var batch = new SealedBatch(octets, header, leavesLength, checkpoint);
            batch.checkLeaves();
            return batch;
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            throw new MalformedBatchException(
                    "the batch is malformed: " + e.getClass().getSimpleName());
        }
    }

    private static BatchHeader header(ByteBuffer in) {
        var run = new byte[RUN_BYTES];
        in.get(run);
        long sequence = in.getLong();
        long firstIndex = in.getLong();
        int count = in.getInt();
        long sealedAtNs = in.getLong();
        var previous = new byte[Hash.LENGTH];
        in.get(previous);
        var id = new RunId(new String(run, StandardCharsets.ISO_8859_1));
        return new BatchHeader(id, sequence, firstIndex, count, sealedAtNs, Hash.copyOf(previous, 0));
    }

    private void checkLeaves() throws MalformedBatchException {
        LeafCursor leaves = leaves();
        int seen = 0;
        while (leaves.next()) {
            seen++;
        }
        require(leaves.atEnd() && seen == count(), "its leaves do not add up");
    }

    private static void requireLength(int length) throws MalformedBatchException {
        require(length <= BYTES_MAX, "it is longer than " + BYTES_MAX + " octets");
    }

    private static void requireCounts(BatchHeader header) throws MalformedBatchException {
        require(
                header.sequence() >= 0
                        && header.firstIndex() >= 0
                        && header.count() > 0
                        && header.count() <= LEAVES_MAX,
                "its counts are out of range");
    }

    private static void requireCheckpoint(int length) throws MalformedBatchException {
        require(length > 0 && length <= CHECKPOINT_BYTES_MAX, "its checkpoint's length is out of range");
    }

    private static void require(boolean holds, String what) throws MalformedBatchException {
        if (!holds) {
            throw new MalformedBatchException("the batch is malformed: " + what);
        }
    }

    /// Encodes a batch from its parts. `leaves[0, leavesLength)` are `header.count()` entries as [LeafCursor]
    /// reads them, for which the caller is responsible: they are not checked again.
    public static SealedBatch encode(BatchHeader header, byte[] leaves, int leavesLength, String checkpoint) {
        byte[] note = checkpoint.getBytes(StandardCharsets.UTF_8);
        ByteBuffer out = ByteBuffer.allocate(LEAVES_AT + leavesLength + Integer.BYTES + note.length);
        try {
            requireLength(out.capacity());
            requireCounts(header);
            requireCheckpoint(note.length);
        } catch (MalformedBatchException e) {
            throw new IllegalArgumentException("these parts do not make a batch", e);
        }
        out.putInt(MAGIC).put(VERSION).put(header.run().value().getBytes(StandardCharsets.ISO_8859_1));
        out.putLong(header.sequence())
                .putLong(header.firstIndex())
                .putInt(header.count())
                .putLong(header.sealedAtNs());
        out.put(header.previous().toBytes());
        out.putInt(leavesLength).put(leaves, 0, leavesLength);
        out.putInt(note.length).put(note);
        return new SealedBatch(out.array(), header, leavesLength, checkpoint);
    }

    /// The exact encoding; not a copy, not to be changed.
    public byte[] octets() {
        return octets;
    }

    public RunId run() {
        return header.run();
    }

    /// The batch's number within its run, from 0.
    public long sequence() {
        return header.sequence();
    }

    /// Index of the first leaf within the run.
    public long firstIndex() {
        return header.firstIndex();
    }

    /// How many leaves.
    public int count() {
        return header.count();
    }

    /// Index after the last leaf: the tree size that the checkpoint signs.
    public long endIndex() {
        return header.firstIndex() + header.count();
    }

    /// When it was sealed, nanoseconds since the epoch on the host's clock.
    public long sealedAtNs() {
        return header.sealedAtNs();
    }

    /// Hash of the batch before; [Hash#ZERO] for the first.
    public Hash previous() {
        return header.previous();
    }

    /// The signed checkpoint note.
    public String checkpoint() {
        return checkpoint;
    }

    /// The hash that the next batch names: SHA-256 over everything except the leaves, which the checkpoint's
    /// root covers.
    public Hash hash() {
        MessageDigest digest = Sha256.digest();
        digest.update(octets, 0, LEAVES_AT);
        int behind = LEAVES_AT + leavesLength;
        digest.update(octets, behind, octets.length - behind);
        return Hash.copyOf(digest.digest(), 0);
    }

    /// A new cursor over the leaves.
    public LeafCursor leaves() {
        return new LeafCursor(octets, LEAVES_AT, LEAVES_AT + leavesLength);
    }
}
