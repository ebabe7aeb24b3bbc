package blackbox.vm.guest;

import blackbox.vm.VmException;
import java.time.Duration;

/// Lets a machine be held for moments, unless somebody has stopped it: what ends a moment would let it go on. Safe to
/// share.
public final class HoldGate {

    private volatile boolean shut;

    /// Holds the machine for some time, unless it is stopped.
    ///
    /// @return false if it was not held
    synchronized boolean hold(Brake brake, Duration time) throws VmException {
        if (shut) {
            return false;
        }
        brake.hold(time);
        return true;
    }

    /// From now on it is held for no moment; waits until it is not.
    public void shut() {
        shut = true;
        synchronized (this) {
            return;
        }
    }

    /// It may be held for moments again.
    public void open() {
        shut = false;
    }

    /// Whether it is stopped.
    boolean isShut() {
        return shut;
    }
}
