package blackbox.recorder.seal;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.MerkleFrontier;
import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.sides.Reconciler;
import blackbox.evidence.text.Timestamps;
import blackbox.evidence.verify.EventAccount;
import blackbox.evidence.verify.Losses;
import blackbox.recorder.RecorderException;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.BatchHeader;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.event.FindingDetail;
import blackbox.schemas.event.FindingDetail.SidesDiffer;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/// Orders one run's events, gives each its index and seals them in batches. Owned by one thread.
///
/// Every batch is an epoch: it ends with a heartbeat leaf of the host (batch number, hash of the batch
/// before, counts, the next epoch's key) and carries a checkpoint over all leaves up to it, signed by the
/// epoch's key. [#seal] returns after the sink has made the batch durable: only then do the indexes given out
/// by [#append] count as recorded.
public final class RunSealer implements AutoCloseable {

    /// A batch is full at this many octets of leaves or [#BATCH_LEAVES_FULL] leaves: a [#seal] must then come
    /// before the next [#append].
    static final int BATCH_BYTES_FULL = 1 << 20;

    /// See [#BATCH_BYTES_FULL].
    static final int BATCH_LEAVES_FULL = 16_384;

    private final RunId run;
    private final EpochKeys keys;
    private final BatchSink sink;
    private final SteadyClock clock;
    private final MerkleFrontier tree = new MerkleFrontier();
    private final EventAccount account = new EventAccount();
    private final Reconciler sides = new Reconciler();

    private final RowWatch watch;

    /// What follows from the rows so far and is to be said with the next event: from a heartbeat, too, and that is its
    /// batch's last leaf.
    private final List<Event> due = new ArrayList<>();

    /// What the watch said since the last seal, by index.
    private final SortedMap<Long, Event> said = new TreeMap<>();

    private final Row row = new Row();
    private byte[] leaves = new byte[BATCH_BYTES_FULL + 2 * LeafCodec.BYTES_MAX];
    private int leavesLength;
    private long firstIndex;
    private long sequence;
    private Hash previous = Hash.ZERO;
    private boolean closed;

    /// @param clock the host's; heartbeats never go back even if it does, and setting it back is recorded
    public RunSealer(RunId run, EpochKeys keys, BatchSink sink, InstantSource clock) {
        this(run, keys, sink, clock, RowWatch.NONE);
    }

    /// @param watch is shown every row, and says what follows from it
    public RunSealer(RunId run, EpochKeys keys, BatchSink sink, InstantSource clock, RowWatch watch) {
        this.run = run;
        this.watch = watch;
        this.keys = keys;
        this.sink = sink;
        this.clock = SteadyClock.over(clock);
    }

    /// Seals every epoch with the same key, see [EpochKeys#always].
    public RunSealer(RunId run, NoteSigner signer, BatchSink sink, InstantSource clock) {
        this(run, EpochKeys.always(signer), sink, clock);
    }

    /// Appends an event, and what follows from it, and returns its index. Not yet recorded: see [#seal].
    public long append(Event event) {
        long index = consider(event);
        tellWhatFollows();
        return index;
    }

    /// Appends an event; what follows from it is due.
    private long consider(Event event) {
        EventRows.fill(event, row);
        long index = append(row);
        for (SidesDiffer differs : sides.see(index, row)) {
            due.add(finding(differs));
        }
        if (!closed) {
            due.addAll(watch.see(index, row));
        }
        return index;
    }

    /// Appends what is to be said once everything else but the run's close has been appended.
    void settle() {
        for (SidesDiffer differs : sides.finish()) {
            due.add(finding(differs));
        }
        tellWhatFollows();
        due.addAll(watch.finish());
        tellWhatFollows();
    }

    private Event finding(SidesDiffer differs) {
        return new Event.RecorderFinding(EventHeader.host(sides.nowNs()), differs);
    }

    private void tellWhatFollows() {
        while (!due.isEmpty()) {
            List<Event> next = List.copyOf(due);
            due.clear();
            for (Event event : next) {
                long index = consider(event);
                if (event.kind() == Kind.RECORDER_ALERT) {
                    said.put(index, event);
                }
            }
        }
    }

    /// Whether the watch has said something since the last [#seal], so that somebody waits for it.
    boolean isAwaited() {
        return !said.isEmpty();
    }

    /// Appends a row and returns its index.
    public long append(Row filled) {
        long room = LeafCodec.sizeMax(filled) + LeafCursor.ENTRY_OVERHEAD;
        if (leaves.length - leavesLength < room) {
            leaves = Arrays.copyOf(leaves, Math.toIntExact(leavesLength + room));
        }
        int at = leavesLength + LeafCursor.ENTRY_OVERHEAD;
        int end = LeafCodec.encode(filled, leaves, at);
        closed |= filled.has(Column.KIND) && filled.number(Column.KIND) == Kind.RUN_CLOSE.code();
        LeafCursor.putEntryHeader(leaves, leavesLength, end - at);
        leavesLength = end;
        tree.append(leaves, at, end - at);
        account.see(tree.size() - 1, filled);
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

    /// Sum of the losses declared so far, see [blackbox.schemas.view.Counts#sum].
    public long lost() {
        return account.declared();
    }

    /// What is lost by what was appended so far, as whoever verifies the run will find.
    Losses losses() {
        return account.losses(false);
    }

    /// Closes the pending batch with a heartbeat, signs it and hands it to the sink.
    ///
    /// @throws RecorderException when the sink could not make it durable; the sealer must then not be used
    /// again
    public SealedBatch seal() throws RecorderException {
        long nowNs = nowNs();
        tellWhatFollows();
        tellOfClock(nowNs);
        String nextKey = keys.announce(closed);
        consider(new Event.RecorderHeartbeat(
                EventHeader.host(nowNs), sequence, previous, tree.size() + 1, lost(), nextKey));
        String checkpoint = keys.seal(new Checkpoint(run.origin(), tree.size(), tree.root()).text());
        var header = new BatchHeader(run, sequence, firstIndex, pending(), nowNs, previous);
        SealedBatch batch = SealedBatch.encode(header, leaves, leavesLength, checkpoint);
        sink.write(batch);
        said.forEach(watch::sealed);
        said.clear();
        previous = batch.hash();
        sequence++;
        firstIndex = tree.size();
        leavesLength = 0;
        return batch;
    }

    private long nowNs() {
        return Timestamps.nanos(clock.instant());
    }

    /// After the run's close only the heartbeat may follow, so setting the clock back is not reported there
    /// anymore.
    private void tellOfClock(long nowNs) {
        Duration back = clock.setBack();
        if (!back.isZero() && !closed) {
            append(new Event.RecorderFinding(EventHeader.host(nowNs), new FindingDetail.ClockSetBack(back.toNanos())));
        }
    }

    /// Destroys the keys of epochs that will not take place.
    @Override
    public void close() {
        keys.close();
    }
}
