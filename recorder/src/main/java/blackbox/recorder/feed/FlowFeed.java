package blackbox.recorder.feed;

import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.EventSink;
import blackbox.recorder.guest.HostClock;
import blackbox.recorder.net.FlowTable;
import blackbox.schemas.event.Event;
import blackbox.schemas.net.PcapReader;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/// Folds the frames of a machine's interface into flows, in the order of their capture times, and passes on the
/// resulting events. Each direction may be read by its own thread.
public final class FlowFeed {
    private final FlowTable flows = new FlowTable();
    private final FrameOrder order = new FrameOrder();
    private final HostClock clock;
    private final EventSink sink;

    public FlowFeed(HostClock clock, EventSink sink) {
        this.clock = clock;
        this.sink = sink;
    }

    /// Reads the frames of one direction to their end.
    ///
    /// @param frames pcap
    /// @throws RecorderException when an event could not be passed on; nothing more is read then
    public void read(InputStream frames, FlowTable.Direction direction) throws IOException, RecorderException {
        var reader = new PcapReader(frames);
        try {
            for (PcapReader.Frame frame = reader.next(); frame != null; frame = reader.next()) {
                synchronized (flows) {
                    order.add(frame, direction, clock.nowNs());
                    tick();
                }
            }
        } finally {
            synchronized (flows) {
                order.end(direction);
            }
        }
    }

    /// Folds the frames that have waited long enough for earlier ones of the other direction. To be called every now
    /// and then while frames are read.
    ///
    /// @throws RecorderException as [#read]
    public void tick() throws RecorderException {
        synchronized (flows) {
            long nowNs = clock.nowNs();
            for (FrameOrder.Placed next = order.next(nowNs); next != null; next = order.next(nowNs)) {
                handOn(flows.add(next.octets(), next.direction(), next.arrivedNs()));
            }
        }
    }

    /// Passes on what is still folded, once both directions have been read.
    public void finish() throws RecorderException {
        synchronized (flows) {
            tick();
            handOn(flows.close(clock.nowNs()));
        }
    }

    private void handOn(List<Event> events) throws RecorderException {
        for (Event event : events) {
            sink.accept(event);
        }
    }
}
