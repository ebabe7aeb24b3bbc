package blackbox.recorder.guest;

import blackbox.recorder.RecorderException;
import blackbox.schemas.event.Event;
import org.jspecify.annotations.Nullable;

/// Takes events, in order; may block.
@FunctionalInterface
public interface EventSink {

    void accept(Event event) throws RecorderException;

    /// What has stopped it for good, or null: it may take nothing more, and whoever lets things happen that
    /// it should take has to end them. Any thread.
    default @Nullable Exception failure() {
        return null;
    }
}
