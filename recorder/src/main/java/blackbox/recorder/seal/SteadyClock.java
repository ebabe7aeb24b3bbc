package blackbox.recorder.seal;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/// A run's clock: the host's, but it never goes back. When the host's clock is set back, this one continues
/// from where it was, at the same pace, and remembers by how much. Safe to share.
public final class SteadyClock implements InstantSource {

    private final InstantSource host;
    private Instant last = Instant.MIN;
    private Duration ahead = Duration.ZERO;
    private Duration untold = Duration.ZERO;

    private SteadyClock(InstantSource host) {
        this.host = host;
    }

    /// A steady clock over `host`, or `host` itself if it is one.
    public static SteadyClock over(InstantSource host) {
        return host instanceof SteadyClock steady ? steady : new SteadyClock(host);
    }

    @Override
    public synchronized Instant instant() {
        Instant now = host.instant().plus(ahead);
        if (now.isBefore(last)) {
            Duration back = Duration.between(now, last);
            ahead = ahead.plus(back);
            untold = untold.plus(back);
            now = last;
        }
        last = now;
        return now;
    }

    /// By how much the host's clock was set back since the last call.
    synchronized Duration setBack() {
        Duration told = untold;
        untold = Duration.ZERO;
        return told;
    }
}
