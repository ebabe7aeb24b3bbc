package blackbox.recorder.feed;

import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.EventSink;
import blackbox.recorder.guest.HostClock;
import blackbox.recorder.net.FlowTable;
import blackbox.schemas.event.Event;
import blackbox.schemas.net.PcapReader;
import java.io.IOException;
import java.io.InputStream;

/// Folds the frames of a machine's interface into flows, and passes on the resulting events. Each direction
/// may be read by its own thread.
public final class FlowFeed {
    private final FlowTable flows = new FlowTable();
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
        try {
            new PcapReader(frames).forEach(frame -> {
                synchronized (flows) {
                    flows.add(frame, direction, clock.nowNs()).forEach(this::handOn);
                }
            });
        } catch (StoppedException e) {
            throw e.reason;
        }
    }

    /// Passes on what is still folded, once everything has been read.
    public void finish() throws RecorderException {
        synchronized (flows) {
            for (Event event : flows.close(clock.nowNs())) {
                sink.accept(event);
            }
        }
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
