package blackbox.recorder.seal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.MerkleFrontier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.trust.EpochKey;
import blackbox.evidence.trust.NextSigner;
import blackbox.recorder.RecorderException;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RunSealerTest {

    private static final RunId RUN = RunId.create(Instant.EPOCH, new Random(1));
    private static final InstantSource CLOCK = InstantSource.fixed(Instant.ofEpochSecond(1_700_000_000, 5));

    private final Ed25519Key key = Ed25519Key.create("blackbox/recorder", new SecureRandom());
    private final List<SealedBatch> sealed = Collections.synchronizedList(new ArrayList<>());

    private static Event event(String what) {
        return new Event.VmLifecycle(EventHeader.host(42), what, null);
    }

    /// Checks chain, signatures and tree of all batches from their octets alone, and returns the leaves'
    /// rows' kinds.
    private List<Kind> check() {
        var kinds = new ArrayList<Kind>();
        var tree = new MerkleFrontier();
        Hash previous = Hash.ZERO;
        for (SealedBatch batch : sealed) {
            assertEquals(tree.size(), batch.firstIndex());
            assertEquals(previous, batch.previous());
            LeafCursor leaves = batch.leaves();
            var row = new Row();
            while (leaves.next()) {
                tree.append(leaves.array(), leaves.offset(), leaves.length());
                assertTrue(LeafCodec.decode(leaves.array(), leaves.offset(), leaves.offset() + leaves.length(), row));
                kinds.add(Kind.ofCode(row.number(Column.KIND)));
            }
            assertEquals(Kind.RECORDER_HEARTBEAT, kinds.getLast());
            assertEquals(tree.size(), row.number(Column.EVENTS));
            SignedNote note = SignedNote.parse(batch.checkpoint());
            assertNotNull(note);
            assertNotNull(note.signedBy(List.of(key.verifier())));
            assertEquals(new Checkpoint(RUN.origin(), tree.size(), tree.root()), Checkpoint.parse(note.text()));
            previous = batch.hash();
        }
        return kinds;
    }

    /// What a guest says of itself can be any number.
    @Test
    void theSumOfLossesNeverWraps() throws RecorderException {
        var sealer = new RunSealer(RUN, key, sealed::add, CLOCK);
        long sum = 0;
        for (long lost : new long[] {3, Long.MAX_VALUE, 1, Long.MAX_VALUE}) {
            sealer.append(new Event.RecorderLoss(EventHeader.host(42), lost, "probe-missed", null));
            assertTrue(sealer.lost() >= sum);
            sum = sealer.lost();
        }
        assertEquals(Long.MAX_VALUE, sum);
        LeafCursor leaves = sealer.seal().leaves();
        var row = new Row();
        while (leaves.next()) {
            assertTrue(LeafCodec.decode(leaves.array(), leaves.offset(), leaves.offset() + leaves.length(), row));
        }
        assertEquals(Long.MAX_VALUE, row.number(Column.LOST), "of the heartbeat");
        assertFalse(sealer.losses().isKnown());
    }

    @Test
    void aWriterThatFailsForAReasonThatNothingForesawStops() {
        var failing = new RunSealer(
                RUN,
                key,
                _ -> {
                    throw new IllegalStateException();
                },
                CLOCK);
        var recorder = new RunRecorder(failing, "test");
        // Either the call comes after the writer's end, or it waits for the seal at which the writer ends.
        assertThrows(RecorderException.class, recorder::flush);
        assertThrows(RecorderException.class, () -> recorder.accept(event("late")));
        RecorderException stopped = Objects.requireNonNull(recorder.failure());
        assertEquals("the writer failed (IllegalStateException)", stopped.getMessage());
        assertThrows(RecorderException.class, recorder::close);
    }

    @Test
    void batchesChainAndTheirCheckpointsCoverEveryLeaf() throws RecorderException {
        var sealer = new RunSealer(RUN, key, sealed::add, CLOCK);
        for (int i = 0; i < 50; i++) {
            for (int n = i % 7; n > 0; n--) {
                sealer.append(event("STOP"));
            }
            sealer.seal();
        }
        assertEquals(sealer.size(), check().size());
    }

    @Test
    void aBatchIsFullInTimeWhateverTheLeaves() throws RecorderException {
        var sealer = new RunSealer(RUN, key, sealed::add, CLOCK);
        var argument = Text.of("x".repeat(200_000));
        for (int i = 0; i < 200; i++) {
            sealer.append(new Event.ProcessExec(
                    EventHeader.host(1), Text.of("/bin/x"), List.of(argument), List.of(), null, 0));
            if (sealer.isFull()) {
                sealer.seal();
            }
        }
        sealer.seal();
        check();
        assertTrue(sealed.stream().allMatch(batch -> batch.octets().length < SealedBatch.BYTES_MAX));
        var row = new Row();
        LeafCursor leaves = sealed.getFirst().leaves();
        assertTrue(leaves.next());
        LeafCodec.decode(leaves.array(), leaves.offset(), leaves.offset() + leaves.length(), row);
        assertEquals("[argv=200001]", row.list(Column.TRUNCATED).toString());
    }

    @Test
    void theRecorderSealsWhatItWasGivenAndThenStops() throws RecorderException {
        var recorder = new RunRecorder(new RunSealer(RUN, key, sealed::add, CLOCK), "test");
        recorder.accept(event("RESUME"));
        recorder.flush();
        assertTrue(recorder.recorded() >= 2, "the event and its heartbeat");
        for (int i = 1; i < 100_000; i++) {
            recorder.accept(event("RESUME"));
        }
        recorder.accept(new Event.RecorderLoss(EventHeader.host(3), 12, "ring", null));
        recorder.accept(new Event.RunClose(EventHeader.host(4), 0, 0, 0, null, null));
        recorder.close();
        List<Kind> kinds = check();
        assertEquals(100_000, Collections.frequency(kinds, Kind.VM_LIFECYCLE));
        assertEquals(Kind.RUN_CLOSE, kinds.get(kinds.size() - 2));
        assertEquals(kinds.size(), recorder.recorded());
        assertEquals(12, recorder.losses().counted());
        assertThrows(RecorderException.class, () -> recorder.accept(event("late")));
    }

    @Test
    void aSinkThatFailsStopsTheRecorderAndSaysSo() throws RecorderException {
        BatchSink full = batch -> {
            throw new RecorderException(RecorderException.Code.SPOOL, "no space left");
        };
        var recorder = new RunRecorder(new RunSealer(RUN, key, full, CLOCK), "test");
        RecorderException stopped = assertThrows(RecorderException.class, () -> {
            for (int i = 0; i < 10_000_000; i++) {
                recorder.accept(event("STOP"));
            }
        });
        assertEquals(RecorderException.Code.SPOOL, stopped.code());
        assertEquals(0, recorder.recorded());
        assertThrows(RecorderException.class, recorder::close);
    }

    private Row lastLeaf(SealedBatch batch) {
        LeafCursor leaves = batch.leaves();
        var row = new Row();
        while (leaves.next()) {
            assertTrue(LeafCodec.decode(leaves.array(), leaves.offset(), leaves.offset() + leaves.length(), row));
        }
        return row;
    }

    @Test
    void eachEpochIsSealedByTheKeyThatTheHeartbeatBeforeItNames() throws RecorderException {
        var keys = new EphemeralKeys(RUN, new SecureRandom());
        var sealer = new RunSealer(RUN, keys, sealed::add, CLOCK);
        NextSigner signer = new NextSigner.Epoch(EpochKey.of(keys.first()));
        var seen = new HashSet<NextSigner>();
        for (int i = 0; i < 20; i++) {
            if (i == 19) {
                sealer.append(new Event.RunClose(EventHeader.host(4), sealer.size(), 0, 0, null, null));
            }
            SealedBatch batch = sealer.seal();
            SignedNote note = SignedNote.parse(batch.checkpoint());
            assertNotNull(note);
            assertEquals(1, note.signatures().size());
            assertTrue(signer.signed(note, RUN, List.of()), "epoch " + i);
            assertTrue(seen.add(signer), "a key that sealed an epoch before");
            Row heartbeat = lastLeaf(batch);
            Text detail = heartbeat.has(Column.DETAIL) ? heartbeat.text(Column.DETAIL) : null;
            signer = Objects.requireNonNull(signer.after(detail, i == 19), "epoch " + i);
        }
        assertThrows(IllegalStateException.class, sealer::seal);
    }

    @Test
    void keysThatAreClosedSealNothingMore() throws RecorderException {
        var keys = new EphemeralKeys(RUN, new SecureRandom());
        var sealer = new RunSealer(RUN, keys, sealed::add, CLOCK);
        sealer.seal();
        sealer.close();
        assertThrows(IllegalStateException.class, sealer::seal);
        assertEquals(1, sealed.size());
    }

    @Test
    void aHostClockThatIsSetBackDoesNotTakeTheRunsTimeBack() throws RecorderException {
        long[] times = {100, 200, 150, 160, 5, 6, 500};
        int[] at = {0};
        var sealer = new RunSealer(RUN, key, sealed::add, () -> Instant.ofEpochSecond(times[at[0]++]));
        long before = 0;
        var beats = new ArrayList<Long>();
        for (int i = 0; i < times.length; i++) {
            SealedBatch batch = sealer.seal();
            assertTrue(batch.sealedAtNs() >= before, "batch " + i);
            before = batch.sealedAtNs();
            beats.add(before / 1_000_000_000L);
        }
        assertEquals(List.of(100L, 200L, 200L, 210L, 210L, 211L, 705L), beats);
        assertEquals(2, Collections.frequency(check(), Kind.RECORDER_FINDING));
        LeafCursor leaves = sealed.get(2).leaves();
        var row = new Row();
        assertTrue(leaves.next());
        LeafCodec.decode(leaves.array(), leaves.offset(), leaves.offset() + leaves.length(), row);
        assertEquals("CLOCK_SET_BACK", row.text(Column.WHAT).toString());
        assertEquals("{\"byNs\":50000000000}", row.text(Column.DETAIL).toString());
    }

    @Test
    void whatIsDueByTheHeartbeatsTimeIsToldInTheNextBatch() throws Exception {
        try (var sealer = new RunSealer(RUN, key, sealed::add, CLOCK)) {
            sealer.append(new Event.RunOpen(EventHeader.host(1), null, "{\"network\":\"gateway\"}"));
            sealer.append(new Event.TracerReady(EventHeader.host(1), "{\"attached\":[\"tcp_connect\"]}"));
            sealer.append(new Event.EgressDecision(
                    EventHeader.host(2),
                    "allow",
                    "tcp",
                    new Endpoint("10.0.2.15", 6),
                    new Endpoint("192.0.2.1", 80),
                    null,
                    "{\"stage\":\"connect\"}"));
            sealer.append(new Event.TracerHeartbeat(
                    new EventHeader(3, Source.GUEST, new GuestOrigin(0, 1, Actor.AGENT), null, Marks.NONE), null));
            sealer.seal();
            sealer.seal();
        }
        assertEquals(
                List.of(
                        Kind.RUN_OPEN,
                        Kind.TRACER_READY,
                        Kind.EGRESS_DECISION,
                        Kind.TRACER_HEARTBEAT,
                        Kind.RECORDER_HEARTBEAT,
                        Kind.RECORDER_FINDING,
                        Kind.RECORDER_HEARTBEAT),
                check());
    }
}
