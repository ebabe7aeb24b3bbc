package blackbox.recorder.guest;

import blackbox.recorder.RecorderException;
import blackbox.schemas.event.Event;

/// Takes events, in order; may block.
@FunctionalInterface
public interface EventSink {

    void accept(Event event) throws RecorderException;
}
