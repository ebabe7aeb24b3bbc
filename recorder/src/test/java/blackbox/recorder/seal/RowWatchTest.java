package blackbox.recorder.seal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.sign.Ed25519Key;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What a watch says is sealed after what it follows from, and told of only then.
@Timeout(60)
class RowWatchTest {
    private static final RunId RUN = RunId.create(Instant.EPOCH, new Random(1));

    /// Batches and what is told of them, in the order in which they came.
    private final List<Object> seen = new CopyOnWriteArrayList<>();

    /// Says something of each `vm.lifecycle`, and one thing more at the end; nobody listens to what it says of the
    /// close.
    private final class Watch implements RowWatch {
        @Override
        public List<Event> see(long index, Row row) {
            long kind = row.number(Column.KIND);
            boolean speaks = kind == Kind.VM_LIFECYCLE.code() || kind == Kind.RUN_CLOSE.code();
            return speaks ? List.of(alert("of " + index)) : List.of();
        }

        @Override
        public List<Event> finish() {
            return List.of(alert("at the end"));
        }

        @Override
        public void sealed(long index, Event said) {
            seen.add(Map.entry(index, ((Event.Detection) said).what()));
        }
    }

    private static Event alert(String what) {
        return new Event.Detection(Kind.RECORDER_ALERT, EventHeader.host(1), what, "{}");
    }

    private RunRecorder recorder() {
        var key = Ed25519Key.create("blackbox/recorder", new SecureRandom());
        var sealer = new RunSealer(RUN, EpochKeys.always(key), seen::add, InstantSource.system(), new Watch());
        return new RunRecorder(sealer, "test");
    }

    private static Event lifecycle() {
        return new Event.VmLifecycle(EventHeader.host(1), "STOP", null);
    }

    @Test
    void whatFollowsIsSealedAndThenTold() throws Exception {
        RunRecorder recorder = recorder();
        recorder.accept(lifecycle());
        recorder.accept(new Event.AgentStart(EventHeader.host(2), "{}"));
        recorder.accept(lifecycle());
        recorder.accept(new Event.RunClose(EventHeader.host(3), 0, 0, 0, null, "{}"));
        recorder.close();
        var said = new TreeMap<Long, String>();
        var durable = new TreeMap<Long, String>();
        var kinds = new ArrayList<String>();
        for (Object each : seen) {
            switch (each) {
                case SealedBatch batch -> read(batch, durable, kinds);
                case Map.Entry<?, ?> told -> {
                    Long index = (Long) told.getKey();
                    assertEquals(told.getValue(), durable.get(index), "durable before it is told");
                    said.put(index, (String) told.getValue());
                }
                default -> throw new AssertionError(each);
            }
        }
        assertEquals(durable, said, "all of it");
        assertEquals(3, said.size());
        kinds.removeIf("recorder.heartbeat"::equals);
        assertEquals(
                List.of(
                        "vm.lifecycle",
                        "recorder.alert",
                        "agent.start",
                        "vm.lifecycle",
                        "recorder.alert",
                        "recorder.alert",
                        "run.close"),
                kinds);
    }

    private static void read(SealedBatch batch, Map<Long, String> alerts, List<String> kinds) {
        LeafCursor leaves = batch.leaves();
        var row = new Row();
        long index = batch.firstIndex();
        while (leaves.next()) {
            LeafCodec.decode(leaves.array(), leaves.offset(), leaves.offset() + leaves.length(), row);
            Kind kind = Kind.ofCode(row.number(Column.KIND));
            kinds.add(String.valueOf(kind == null ? null : kind.eventName()));
            if (kind == Kind.RECORDER_ALERT) {
                alerts.put(index, row.text(Column.WHAT).toString());
            }
            index++;
        }
    }

    /// Nobody waits half a second for it.
    @Test
    void whatIsSaidIsSealedSoon() throws Exception {
        RunRecorder recorder = recorder();
        var tookMs = new ArrayList<Long>();
        for (int i = 0; i < 20; i++) {
            int before = seen.size();
            long began = System.nanoTime();
            recorder.accept(lifecycle());
            while (seen.stream().skip(before).noneMatch(Map.Entry.class::isInstance)) {
                Thread.onSpinWait();
            }
            tookMs.add((System.nanoTime() - began) / 1_000_000);
        }
        recorder.close();
        long median = tookMs.stream().sorted().skip(10).findFirst().orElseThrow();
        assertTrue(median < 250, tookMs::toString);
    }
}
