package blackbox.gateway.http;

import blackbox.gateway.stack.GuestTcpChannel;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// What happens on a connection unless something else happens in time; one thing at a time. Owned by the loop.
final class Deadline {
    private final GuestTcpChannel guest;
    private @Nullable ScheduledFuture<?> timer;

    Deadline(GuestTcpChannel guest) {
        this.guest = guest;
    }

    boolean runs() {
        return timer != null;
    }

    void in(Duration time, Runnable action) {
        stop();
        timer = guest.eventLoop()
                .schedule(
                        () -> {
                            timer = null;
                            action.run();
                        },
                        time.toMillis(),
                        TimeUnit.MILLISECONDS);
    }

    void stop() {
        ScheduledFuture<?> running = timer;
        timer = null;
        if (running != null) {
            running.cancel(false);
        }
    }
}
