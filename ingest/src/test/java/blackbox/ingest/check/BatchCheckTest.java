package blackbox.ingest.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.MerkleFrontier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.ingest.Traffic;
import blackbox.schemas.Hash;
import blackbox.schemas.batch.BatchHeader;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import java.io.ByteArrayOutputStream;
import java.security.SecureRandom;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class BatchCheckTest {

    private static final long SEED = 42;

    private final Random random = new Random(SEED);
    private final BatchCheck check =
            new BatchCheck(() -> List.of(Traffic.KEY.verifier()), Ownership.ALL, RunStates.NONE);

    private Traffic traffic(int batches) throws Exception {
        var traffic = new Traffic(random);
        for (int i = 0; i < batches; i++) {
            traffic.batch(20);
        }
        return traffic;
    }

    private CheckResult check(SealedBatch batch) throws Exception {
        return check.check(batch.run().value(), batch.octets());
    }

    private ChainState accept(SealedBatch batch) throws Exception {
        return assertInstanceOf(CheckResult.Accepted.class, check(batch)).after();
    }

    private void refuse(Reason reason, SealedBatch batch) throws Exception {
        CheckResult.Refused refused = assertInstanceOf(CheckResult.Refused.class, check(batch));
        assertEquals(reason, refused.reason(), refused.what());
        assertEquals(reason.stops(), refused.after() != null);
        if (refused.after() != null) {
            assertEquals(reason, refused.after().stoppedBy());
        }
    }

    /// A batch made from another one's parts, signed again with `key`.
    private static SealedBatch forge(BatchHeader header, SealedBatch leavesOf, Checkpoint checkpoint, Ed25519Key key) {
        var leaves = new ByteArrayOutputStream();
        LeafCursor cursor = leavesOf.leaves();
        while (cursor.next()) {
            leaves.write(
                    cursor.array(),
                    cursor.offset() - LeafCursor.ENTRY_OVERHEAD,
                    cursor.length() + LeafCursor.ENTRY_OVERHEAD);
        }
        return SealedBatch.encode(header, leaves.toByteArray(), leaves.size(), SignedNote.sign(checkpoint.text(), key));
    }

    private static BatchHeader header(SealedBatch batch) {
        return new BatchHeader(
                batch.run(), batch.sequence(), batch.firstIndex(), batch.count(), batch.sealedAtNs(), batch.previous());
    }

    private static Checkpoint checkpoint(SealedBatch batch) {
        SignedNote note = SignedNote.parse(batch.checkpoint());
        assertNotNull(note);
        Checkpoint checkpoint = Checkpoint.parse(note.text());
        assertNotNull(checkpoint);
        return checkpoint;
    }

    @Test
    void aWholeRunIsAcceptedAndItsRepeatsAreKnown() throws Exception {
        Traffic traffic = traffic(5);
        traffic.close();
        for (SealedBatch batch : traffic.batches()) {
            CheckResult.Accepted accepted = assertInstanceOf(CheckResult.Accepted.class, check(batch));
            assertEquals(batch == traffic.batches().getLast(), accepted.closes());
            assertEquals(batch.endIndex(), accepted.after().nextIndex());
            assertInstanceOf(CheckResult.Known.class, check(traffic.batches().getFirst()));
            assertInstanceOf(CheckResult.Known.class, check(batch));
        }
        refuse(Reason.AFTER_CLOSE, traffic.batch(1));
    }

    @Test
    void goesOnFromACommittedState() throws Exception {
        Traffic traffic = traffic(4);
        accept(traffic.batches().get(0));
        ChainState state = accept(traffic.batches().get(1));
        var resumed = new BatchCheck(
                () -> List.of(Traffic.KEY.verifier()),
                Ownership.ALL,
                _ -> new RunStates.Open(ChainState.parse(state.text())));
        for (SealedBatch batch : traffic.batches()) {
            CheckResult result = resumed.check(batch.run().value(), batch.octets());
            Class<? extends CheckResult> expected =
                    batch.sequence() < 2 ? CheckResult.Known.class : CheckResult.Accepted.class;
            assertEquals(expected, result.getClass());
        }
        var closed =
                new BatchCheck(() -> List.of(Traffic.KEY.verifier()), Ownership.ALL, _ -> new RunStates.Closed(21L));
        SealedBatch first = traffic.batches().getFirst();
        assertInstanceOf(CheckResult.Known.class, closed.check(first.run().value(), first.octets()));
    }

    @Test
    void aFlippedOctetIsNeverAccepted() throws Exception {
        SealedBatch batch = traffic(1).batches().getFirst();
        for (int i = 0; i < batch.octets().length; i++) {
            byte[] flipped = batch.octets().clone();
            flipped[i] ^= (byte) (1 << random.nextInt(8));
            var fresh = new BatchCheck(() -> List.of(Traffic.KEY.verifier()), Ownership.ALL, RunStates.NONE);
            CheckResult result = fresh.check(batch.run().value(), flipped);
            assertInstanceOf(CheckResult.Refused.class, result, "octet " + i + ", seed " + SEED);
        }
    }

    @Test
    void anotherKeyIsRefusedWithoutSilencingTheRun() throws Exception {
        Traffic traffic = traffic(2);
        SealedBatch first = traffic.batches().getFirst();
        Ed25519Key sameName = Ed25519Key.create(Traffic.KEY.verifier().name(), new SecureRandom());
        refuse(Reason.SIGNATURE, forge(header(first), first, checkpoint(first), sameName));
        accept(first);
        accept(traffic.batches().get(1));
    }

    @Test
    void anotherRunsBatchesAreRefused() throws Exception {
        Traffic traffic = traffic(1);
        Traffic other = traffic(1);
        SealedBatch batch = traffic.batches().getFirst();
        SealedBatch foreign = other.batches().getFirst();
        CheckResult misfiled = check.check(other.run().value(), batch.octets());
        assertEquals(
                Reason.MISFILED,
                assertInstanceOf(CheckResult.Refused.class, misfiled).reason());
        CheckResult keyless = check.check(null, batch.octets());
        assertEquals(
                Reason.MISFILED,
                assertInstanceOf(CheckResult.Refused.class, keyless).reason());
        var header = new BatchHeader(traffic.run(), 0, 0, foreign.count(), foreign.sealedAtNs(), Hash.ZERO);
        refuse(Reason.CHECKPOINT, forge(header, foreign, checkpoint(foreign), Traffic.KEY));
    }

    @Test
    void aCheckpointOfAnotherSizeIsRefused() throws Exception {
        SealedBatch batch = traffic(1).batches().getFirst();
        Checkpoint true0 = checkpoint(batch);
        var other = new Checkpoint(true0.origin(), true0.size() + 1, true0.root());
        refuse(Reason.CHECKPOINT, forge(header(batch), batch, other, Traffic.KEY));
    }

    @Test
    void anotherRootIsRefused() throws Exception {
        SealedBatch batch = traffic(1).batches().getFirst();
        var other = new Checkpoint(batch.run().origin(), batch.endIndex(), Hash.sha256(new byte[] {1}));
        refuse(Reason.ROOT, forge(header(batch), batch, other, Traffic.KEY));
        refuse(Reason.STOPPED, batch);
    }

    @Test
    void aGapStopsTheRun() throws Exception {
        Traffic traffic = traffic(4);
        accept(traffic.batches().get(0));
        refuse(Reason.GAP, traffic.batches().get(2));
        refuse(Reason.STOPPED, traffic.batches().get(1));
        refuse(Reason.STOPPED, traffic.batches().get(3));
        assertInstanceOf(CheckResult.Known.class, check(traffic.batches().get(0)));
    }

    @Test
    void aMissingBeginningIsAGap() throws Exception {
        refuse(Reason.GAP, traffic(2).batches().get(1));
    }

    @Test
    void aBrokenChainIsRefused() throws Exception {
        Traffic traffic = traffic(2);
        accept(traffic.batches().get(0));
        SealedBatch next = traffic.batches().get(1);
        var header = new BatchHeader(next.run(), 1, next.firstIndex(), next.count(), next.sealedAtNs(), Hash.ZERO);
        refuse(Reason.CHAIN, forge(header, next, checkpoint(next), Traffic.KEY));
    }

    @Test
    void aShiftedIndexIsRefused() throws Exception {
        Traffic traffic = traffic(2);
        accept(traffic.batches().get(0));
        SealedBatch next = traffic.batches().get(1);
        long shifted = next.firstIndex() + 3;
        var header = new BatchHeader(next.run(), 1, shifted, next.count(), next.sealedAtNs(), next.previous());
        var size = new Checkpoint(
                next.run().origin(), shifted + next.count(), checkpoint(next).root());
        refuse(Reason.CHAIN, forge(header, next, size, Traffic.KEY));
    }

    @Test
    void otherContentsInAKnownPlaceAreRefused() throws Exception {
        Traffic traffic = traffic(1);
        SealedBatch batch = traffic.batches().getFirst();
        accept(batch);
        var header = new BatchHeader(batch.run(), 0, 0, batch.count(), batch.sealedAtNs() + 1, Hash.ZERO);
        refuse(Reason.CONFLICT, forge(header, batch, checkpoint(batch), Traffic.KEY));
    }

    @Test
    void aBatchWithoutItsHeartbeatIsRefused() throws Exception {
        SealedBatch batch = traffic(1).batches().getFirst();
        var leaves = new ByteArrayOutputStream();
        var tree = new MerkleFrontier();
        LeafCursor cursor = batch.leaves();
        for (int i = 0; i < batch.count() - 1 && cursor.next(); i++) {
            tree.append(cursor.array(), cursor.offset(), cursor.length());
            leaves.write(
                    cursor.array(),
                    cursor.offset() - LeafCursor.ENTRY_OVERHEAD,
                    cursor.length() + LeafCursor.ENTRY_OVERHEAD);
        }
        var header = new BatchHeader(batch.run(), 0, 0, batch.count() - 1, batch.sealedAtNs(), Hash.ZERO);
        var checkpoint = new Checkpoint(batch.run().origin(), tree.size(), tree.root());
        refuse(
                Reason.HEARTBEAT,
                SealedBatch.encode(
                        header, leaves.toByteArray(), leaves.size(), SignedNote.sign(checkpoint.text(), Traffic.KEY)));
    }

    @Test
    void octetsThatAreNoBatchAreRefused() throws Exception {
        CheckResult.Refused refused =
                assertInstanceOf(CheckResult.Refused.class, check.check("no run", new byte[] {1, 2, 3}));
        assertEquals(Reason.MALFORMED, refused.reason());
        assertNull(refused.run());
        assertTrue(refused.what().contains("malformed"), refused.what());
    }
}
