package blackbox.replay.rerun;

import blackbox.recorder.guest.EventSink;
import blackbox.replay.compare.EventTape;
import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.GuestOrigin;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Passes events on to a re-execution's tape. Once the execution is being ended, the tape stops at the first event
/// that results from that: the recorded agent was not killed. Any thread may add to it.
final class EndingTape implements EventSink {
    private static final int SIGKILL = 9;

    private final EventTape tape;
    private boolean ended;
    private boolean over;

    EndingTape(EventTape tape) {
        this.tape = tape;
    }

    /// To be called right before the agent is killed, which does not belong on the tape.
    synchronized void end() {
        ended = true;
    }

    @Override
    public synchronized void accept(Event event) {
        over |= ended && isOurs(event);
        if (!over) {
            tape.accept(event);
        }
    }

    private static boolean isOurs(Event event) {
        GuestOrigin origin = event.header().origin();
        return event instanceof Event.ProcessExit exit && exit.signal() != null && exit.signal() == SIGKILL
                || origin != null && origin.actor() == Actor.SUPERVISOR;
    }

    @Override
    public @Nullable IOException failure() {
        return tape.failure();
    }
}
