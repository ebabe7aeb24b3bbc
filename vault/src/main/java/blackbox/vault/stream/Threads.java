package blackbox.vault.stream;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// What both streams do with their threads.
final class Threads {

    private Threads() {}

    /// Waits for a thread that is about to end. An interrupt meanwhile is kept for later.
    static void join(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// Throws on this thread what another one failed with, if it did.
    static void rethrow(@Nullable Throwable failure) throws IOException {
        switch (failure) {
            case null -> {}
            case IOException e -> throw e;
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new IllegalStateException(failure);
        }
    }
}
