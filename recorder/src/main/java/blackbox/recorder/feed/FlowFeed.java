package blackbox.recorder.feed;

import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.EventSink;
import blackbox.recorder.guest.HostClock;
import blackbox.recorder.net.FlowTable;
import blackbox.schemas.event.Event;
import blackbox.schemas.net.PcapReader;
import java.io.IOException;
import java.io.InputStream;

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
                long nowNs = clock.nowNs();
                synchronized (flows) {
                    order.add(frame, direction, nowNs);
                    order.release(nowNs, this::fold);
                }
            }
        } catch (StoppedException e) {
            throw e.reason;
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
        try {
            synchronized (flows) {
                order.release(clock.nowNs(), this::fold);
            }
        } catch (StoppedException e) {
            throw e.reason;
        }
    }

    /// Passes on what is still folded, once everything has been read.
    public void finish() throws RecorderException {
        try {
            synchronized (flows) {
                order.releaseAll(this::fold);
                flows.close(clock.nowNs()).forEach(this::handOn);
            }
        } catch (StoppedException e) {
            throw e.reason;
        }
    }

    private void fold(FrameOrder.Placed frame) {
        flows.add(frame.octets(), frame.direction(), frame.arrivedNs()).forEach(this::handOn);
    }

    private void handOn(Event event) {
        try {
            sink.accept(event);
        } catch (RecorderException e) {
            throw new StoppedException(e);
        }
    }

    /// Carries a checked exception through a lambda.
    private static final class StoppedException extends RuntimeException {
        private static final long serialVersionUID = 1L;
        final transient RecorderException reason;

        StoppedException(RecorderException reason) {
            super(reason);
            this.reason = reason;
        }
    }
}
