package blackbox.vm.machine;

import blackbox.schemas.Progress;
import blackbox.vm.VmException;
import blackbox.vm.image.GuestImage;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A hypervisor that starts machines. One data folder may be used by several processes at once.
public interface MachineHost {

    /// The tier of a recording with `image`. Boots short trials if the answer is not known yet; fetches nothing.
    TierChoice choose(TierOption option, GuestImage image) throws VmException;

    /// Prepares what the first recording with `image` would otherwise wait for; fetches what is missing.
    ///
    /// @param option the requested tier of recordings
    /// @param mirror to fetch packages from instead of the machine's apt sources, or null
    /// @return the tier that recordings get on this machine
    TierChoice prepare(TierOption option, GuestImage image, @Nullable String mirror) throws VmException;

    /// Starts a machine; returns when the guest answers and waits for its agent. `listener` receives the
    /// hypervisor's events from the first on, on a thread that it must not block.
    Machine start(VmRequest request, Consumer<MachineEvent> listener) throws VmException;

    /// Prepares a hypervisor.
    @FunctionalInterface
    interface Opener {

        /// Finds the hypervisor and cleans up after crashed runs.
        ///
        /// @param data the data folder
        /// @param clock by which a guest's clock is set
        /// @param random seeds the guests' generators: must be unpredictable
        /// @throws VmException when there is no such hypervisor
        MachineHost open(Path data, InstantSource clock, RandomGenerator random, Progress progress) throws VmException;
    }
}
