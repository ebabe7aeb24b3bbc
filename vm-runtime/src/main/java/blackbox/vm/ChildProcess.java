package blackbox.vm;

import blackbox.vm.VmException.Code;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/// A process that must not outlive this one.
public final class ChildProcess {

    private ChildProcess() {}

    /// If this program is told to exit and the process's owner does not end it in time, it is ended here.
    ///
    /// @param grace how long its owner has
    /// @throws VmException `TIMEOUT` when this program is about to exit already
    public static void endWithUs(Process process, Duration grace) throws VmException {
        Thread hook = Thread.ofPlatform().name("child-end").unstarted(() -> {
            try {
                if (!process.waitFor(grace)) {
                    process.destroyForcibly();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        try {
            Runtime.getRuntime().addShutdownHook(hook);
        } catch (IllegalStateException e) {
            throw new VmException(Code.TIMEOUT, "this program was asked to stop before the VM had started", e);
        }
        CompletableFuture<Void> _ = process.onExit().thenRun(() -> {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException _) {
                // The hook is already running and has nothing left to do.
            }
        });
    }
}
