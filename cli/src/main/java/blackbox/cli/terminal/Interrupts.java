package blackbox.cli.terminal;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;

/// What SIGINT, SIGTERM and SIGHUP do while a command has something to bring to an end: the first one lets the
/// command do so, the second ends the process and its children at once. The JVM would run its shutdown hooks at the
/// first and ignore the second.
///
/// SIGHUP is never the second: when a terminal is closed, the kernel and the shell both send it, and service
/// managers send it after SIGTERM. A signal that was ignored when this process started, as by nohup(1), stays
/// ignored: the JVM leaves it alone.
public final class Interrupts implements AutoCloseable {

    private static final int SIGNALLED = 128;
    private static final int SIGHUP = 1;

    private final AtomicBoolean interrupted = new AtomicBoolean();
    private final IntConsumer first;
    private final Runnable last;
    private final Signals signals;

    private Interrupts(IntConsumer first, Runnable last) {
        this.first = first;
        this.last = last;
        this.signals = Signals.on(List.of("INT", "TERM", "HUP"), this::signalled);
    }

    /// Handles these signals this way until it is closed.
    ///
    /// @param first gets the number of the first signal, on a thread of its own
    /// @param last runs at the second signal, just before the process ends without running shutdown hooks
    public static Interrupts handledBy(IntConsumer first, Runnable last) {
        return new Interrupts(first, last);
    }

    private void signalled(int number) {
        if (interrupted.compareAndSet(false, true)) {
            Thread.ofPlatform().daemon().name("interrupt").start(() -> first.accept(number));
        } else if (number != SIGHUP) {
            ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
            last.run();
            Runtime.getRuntime().halt(SIGNALLED + number);
        }
    }

    /// Restores the previous handlers.
    @Override
    public void close() {
        signals.close();
    }
}
