package blackbox.recorder.seal;

import blackbox.recorder.RecorderException;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.BatchHeader;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.log.Checkpoint;
import blackbox.schemas.log.MerkleFrontier;
import blackbox.schemas.log.NoteSigner;
import blackbox.schemas.log.SignedNote;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;

/// Orders one run's events, gives each its index and seals them in batches. Owned by one thread.
///
/// Every batch ends with a heartbeat leaf of the host (batch number, hash of the batch before, counts) and carries a
/// signed
/// checkpoint over all leaves up to it. [#seal] returns after the sink has made the batch durable: only then do the
/// indexes given out by [#append] count as recorded.
public final class RunSealer {

    /// A batch is full at this many octets of leaves or [#BATCH_LEAVES_FULL] leaves: [#append] then wants a [#seal].
    static final int BATCH_BYTES_FULL = 1 << 20;

    /// See [#BATCH_BYTES_FULL].
    static final int BATCH_LEAVES_FULL = 16_384;

    private final RunId run;
    private final NoteSigner signer;
    private final BatchSink sink;
    private final InstantSource clock;
    private final MerkleFrontier tree = new MerkleFrontier();
    private final Row row = new Row();
    private byte[] leaves = new byte[BATCH_BYTES_FULL + 2 * LeafCodec.BYTES_MAX];
    private int leavesLength;
    private long firstIndex;
    private long sequence;
    private Hash previous = Hash.ZERO;
    private long lost;

    public RunSealer(RunId run, NoteSigner signer, BatchSink sink, InstantSource clock) {
        this.run = run;
        this.signer = signer;
        this.sink = sink;
        this.clock = clock;
    }

    /// Appends an event and returns its index. Not yet recorded: see [#seal].
    public long append(Event event) {
        if (event instanceof Event.RecorderLoss loss) {
            lost += loss.lost();
        }
        EventRows.fill(event, row);
        return append(row);
    }

    /// Appends a row and returns its index.
    public long append(Row filled) {
        long room = LeafCodec.sizeMax(filled) + LeafCursor.ENTRY_OVERHEAD;
        if (leaves.length - leavesLength < room) {
            leaves = Arrays.copyOf(leaves, Math.toIntExact(leavesLength + room));
        }
        int at = leavesLength + LeafCursor.ENTRY_OVERHEAD;
        int end = LeafCodec.encode(filled, leaves, at);
        LeafCursor.putEntryHeader(leaves, leavesLength, end - at);
        leavesLength = end;
        tree.append(leaves, at, end - at);
        return tree.size() - 1;
    }

    /// How many leaves are waiting for the next [#seal].
    public int pending() {
        return (int) (tree.size() - firstIndex);
    }

    /// Whether the pending batch should be sealed before more is appended.
    public boolean isFull() {
        return leavesLength >= BATCH_BYTES_FULL || pending() >= BATCH_LEAVES_FULL;
    }

    /// Number of leaves so far, sealed or pending.
    public long size() {
        return tree.size();
    }

    /// Sum of the losses declared so far.
    public long lost() {
        return lost;
    }

    /// Number of batches sealed.
    public long batches() {
        return sequence;
    }

    /// Closes the pending batch with a heartbeat, signs it and hands it to the sink.
    ///
    /// @throws RecorderException when the sink could not make it durable; the sealer must then not be used again
    public SealedBatch seal() throws RecorderException {
        Instant now = clock.instant();
        long nowNs = Math.addExact(Math.multiplyExact(now.getEpochSecond(), 1_000_000_000L), now.getNano());
        append(new Event.RecorderHeartbeat(EventHeader.host(nowNs), sequence, previous, tree.size() + 1, lost));
        String checkpoint = SignedNote.sign(new Checkpoint(run.origin(), tree.size(), tree.root()).text(), signer);
        var header = new BatchHeader(run, sequence, firstIndex, pending(), nowNs, previous);
        SealedBatch batch = SealedBatch.encode(header, leaves, leavesLength, checkpoint);
        sink.write(batch);
        previous = batch.hash();
        sequence++;
        firstIndex = tree.size();
        leavesLength = 0;
        return batch;
    }
}
