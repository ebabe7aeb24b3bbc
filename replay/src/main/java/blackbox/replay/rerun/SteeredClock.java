package blackbox.replay.rerun;

import blackbox.recorder.guest.HostClock;
import blackbox.replay.clock.ClockFollower.GuestClock;
import blackbox.vm.VmException;
import blackbox.vm.machine.ClockPace;
import blackbox.vm.machine.GuestMessage.Told;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// The clock of a re-execution's guest. Whatever sets it takes along what times are taken from: the replay's
/// own clock, and the mapping of the guest's events. What the guest says of it counts only as far as it is
/// possible. Owned by one thread.
final class SteeredClock implements GuestClock {
    /// What the guest's clocks may be off before the replay's follow them.
    private static final long ASTRAY_NS_MIN = 1_000_000;

    private final Port guest;
    private final ReplayClock wall;
    private final HostClock clock;
    private long heardNs;
    /// By how much the guest may have set its clock without an answer.
    private long unansweredNs;

    /// Where the guest is told; see [blackbox.vm.machine.Machine#tellClock].
    @FunctionalInterface
    interface Port {
        @Nullable
        Told tell(Instant time, ClockPace pace) throws VmException, InterruptedException;
    }

    SteeredClock(Port guest, ReplayClock wall, HostClock clock) {
        this.guest = guest;
        this.wall = wall;
        this.clock = clock;
        this.heardNs = clock.nowNs();
    }

    /// The replay's clock is set forward first: what the guest writes in between is then not from later than now.
    @Override
    public @Nullable Long correct(long forwardNs, ClockPace pace) throws VmException, InterruptedException {
        long askedNs = clock.nowNs();
        Instant time = forwardNs == 0 ? Instant.EPOCH : Instant.EPOCH.plusNanos(Math.addExact(askedNs, forwardNs));
        wall.forward(Duration.ofNanos(forwardNs));
        Told told = guest.tell(time, pace);
        if (told == null) {
            wall.forward(Duration.ofNanos(-forwardNs));
            unansweredNs = Math.max(unansweredNs, forwardNs);
            return null;
        }
        long stepNs = Math.clamp(told.forwardNanos(), 0, forwardNs);
        wall.forward(Duration.ofNanos(stepNs - forwardNs));
        long tripNs = Math.max(0, clock.nowNs() - askedNs - stepNs);
        long astrayNs = Math.clamp(told.wallNanos(), 0, 2 * askedNs) - askedNs - tripNs / 2;
        long lateNs = Math.clamp(astrayNs, 0, unansweredNs);
        unansweredNs = 0;
        follow(astrayNs - lateNs, tripNs, clock.nowNs() - stepNs);
        wall.forward(Duration.ofNanos(lateNs));
        long latestNs = clock.bootNs() - stepNs - lateNs;
        long bootNs = Math.clamp(told.bootNanos(), latestNs - tripNs - ASTRAY_NS_MIN, latestNs);
        clock.forward(bootNs, stepNs + lateNs);
        return clock.toHostNs(bootNs);
    }

    /// Clocks that were slowed down have fallen behind the host's: the replay's follows, as far as that
    /// explains it.
    private void follow(long astrayNs, long tripNs, long nowNs) {
        long slowedNs = Math.max(0, nowNs - heardNs) / 4 + tripNs;
        heardNs = clock.nowNs();
        if (Math.abs(astrayNs) > ASTRAY_NS_MIN + tripNs / 2) {
            wall.forward(Duration.ofNanos(Math.clamp(astrayNs, -slowedNs, tripNs)));
        }
    }
}
