package blackbox.vm.qemu;

import java.util.List;

/// The machine that a QEMU has to record and replay in its trial: the whole command line except the program,
/// the kernel and the log. It runs in its own folder, in which `disk` is an empty raw disk of 4 MiB, and
/// replays there with the same names.
public interface TrialMachine {
    /// Whether a recording is made or replayed.
    enum Mode {
        /// Writes the log.
        RECORD,
        /// Follows it.
        REPLAY
    }

    /// Machine and devices, with an `events` virtio-serial port, a `console` and a second serial port,
    /// `control`, on QEMU's standard input and output while recording; each of the first two writes to the
    /// file of its name.
    List<String> arguments(Mode mode);

    /// The devices of the exact tier.
    static TrialMachine exact() {
        return new ExactTrialMachine();
    }
}
