package blackbox.recorder.guest;

import blackbox.recorder.Detail;
import blackbox.recorder.RecorderException;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.FindingDetail;
import blackbox.schemas.wire.Frame;
import blackbox.schemas.wire.FrameType;
import blackbox.schemas.wire.RingStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.BitSet;
import java.util.List;

/// Reads the tracer's stream to its end and passes on events: one for each frame, and one for each thing that
/// is missing or wrong. Owned by the thread that calls [#run]; the accessors may be called from others.
public final class GuestDecoder {

    private final HostClock clock;
    private final EventSink sink;
    private final FrameEvents events;
    private final SequenceLedger ledger;
    private final FullDisk fullDisk = new FullDisk();

    /// CPUs of which the tracer has not reported yet that it is done.
    private volatile long heardNs;
    private final BitSet unfinished = new BitSet();
    private volatile boolean sawFinal;
    private long misses;
    private long garbageOctets;

    /// @param report the tracer's, when it became ready
    public GuestDecoder(HostClock clock, TracerReport report, EventSink sink) {
        this.clock = clock;
        this.sink = sink;
        this.events = new FrameEvents(clock, report.agentCgroup(), report.mounts());
        this.ledger = new SequenceLedger(report.cpuSeq());
        unfinished.set(0, report.cpuSeq().size());
    }

    /// When the last heartbeat arrived, nanoseconds since the epoch on the host's clock; 0 before the first.
    public long heardNs() {
        return heardNs;
    }

    /// Whether the tracer reported of every CPU that it is done.
    public boolean sawFinal() {
        return sawFinal;
    }

    /// Reads to the end of the stream.
    ///
    /// @throws RecorderException when an event could not be passed on; nothing more is read then
    public void run(InputStream stream) throws RecorderException {
        var ring = new RingStream(stream);
        try {
            for (RingStream.Item item = ring.next(); item != null; item = ring.next()) {
                switch (item) {
                    case RingStream.Item.Whole whole -> take(whole.frame());
                    case RingStream.Item.Garbage garbage -> garbage(garbage.octets());
                }
            }
        } catch (IOException e) {
            finding(new FindingDetail.GuestStreamBroken(e.getClass().getSimpleName()));
        }
        declare(ledger.close());
        FindingDetail full = fullDisk.finding();
        if (full != null) {
            finding(full);
        }
    }

    private void take(Frame frame) throws RecorderException {
        switch (ledger.take(frame.cpu(), frame.cpuSeq())) {
            case EXPECTED -> {}
            case REPEATED -> finding(new FindingDetail.SequenceRepeated(frame.cpu(), frame.cpuSeq()));
            case IMPOSSIBLE -> finding(new FindingDetail.SequenceImpossible(frame.cpu(), frame.cpuSeq()));
        }
        declare(ledger.settled(frame.cpu()));
        if (frame.type() == FrameType.HEARTBEAT.code()) {
            heartbeat(frame);
        }
        Event event = events.event(frame);
        fullDisk.see(event);
        sink.accept(event);
    }

    private void heartbeat(Frame frame) throws RecorderException {
        heardNs = clock.nowNs();
        clock.heard(frame.ktimeNs());
        if (frame.is(Frame.FINAL)) {
            unfinished.clear(frame.cpu());
            sawFinal = unfinished.isEmpty();
        }
        long now = Counters.misses(frame);
        if (now > misses) {
            sink.accept(new Event.RecorderLoss(EventHeader.host(heardNs), now - misses, "probe-missed", null));
            misses = now;
        }
    }

    private void declare(List<SequenceLedger.Gap> gaps) throws RecorderException {
        for (SequenceLedger.Gap gap : gaps) {
            Detail detail = Detail.of("cpu", gap.cpu()).and("from", gap.from()).and("to", gap.to());
            sink.accept(new Event.RecorderLoss(
                    EventHeader.host(clock.nowNs()), gap.count(), "sequence", detail.toString()));
        }
    }

    /// The first garbage is reported at once, more of it each time that the amount has doubled, so that
    /// garbage cannot flood the record.
    private void garbage(long octets) throws RecorderException {
        long before = garbageOctets;
        garbageOctets += octets;
        if (before == 0 || Long.highestOneBit(before) != Long.highestOneBit(garbageOctets)) {
            finding(new FindingDetail.MalformedFrame(garbageOctets));
        }
    }

    private void finding(FindingDetail what) throws RecorderException {
        sink.accept(new Event.RecorderFinding(EventHeader.host(clock.nowNs()), what));
    }
}
