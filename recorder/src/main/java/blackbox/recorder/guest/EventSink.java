package blackbox.recorder.guest;

import blackbox.recorder.RecorderException;
import blackbox.schemas.event.Event;
import org.jspecify.annotations.Nullable;

/// Takes events, in order; may block.
@FunctionalInterface
public interface EventSink {

    void accept(Event event) throws RecorderException;

    /// What has stopped it permanently, or null. A stopped sink takes nothing more, and whoever runs what it
    /// should record must end that. Any thread.
    default @Nullable Exception failure() {
        return null;
    }
}
