package blackbox.vm.guest;

import blackbox.vm.VmException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Holds a machine while what it has written to a file has not been read. Through a pipe or a socket it would
/// wait by itself; a file takes everything, and a guest that floods it would be gigabytes ahead of its
/// recorder, which then cannot close the run in time. To the guest a pause looks like a slower processor, as
/// those of [ClockKeeper].
///
/// It has its own thread.
public final class OutputBrake implements AutoCloseable {
    /// What takes the recorder about two seconds when the guest makes it as slow as it can.
    public static final long UNREAD_BYTES_MAX = 16 << 20;

    /// A reader that has read nothing for so long is not waited for: it may have ended, or stand still with
    /// the disk that both write to, while the machine has to run to be ended.
    private static final Duration STANDS_STILL = Duration.ofSeconds(5);

    private static final long LOOK_EVERY_MS = 20;
    private static final Duration HELD = Duration.ofMillis(100);
    private static final int FAILURES_MAX = 100;

    private final CountDownLatch stopped = new CountDownLatch(1);
    private final ProcessHandle machine;
    private final HoldGate gate;
    private final Output output;

    private OutputBrake(ProcessHandle machine, HoldGate gate, Output output) {
        this.machine = machine;
        this.gate = gate;
        this.output = output;
    }

    /// What a machine writes. Asked on the brake's thread.
    public interface Output {
        /// How much is in the file that nobody has read, octets.
        long unreadBytes();

        /// How much of it was read.
        long readBytes();
    }

    /// Starts to watch, until `machine` has ended or this is closed.
    public static OutputBrake start(ProcessHandle machine, HoldGate gate, Output output) {
        var brake = new OutputBrake(machine, gate, output);
        Thread.ofPlatform().daemon().name("output-brake").start(brake::run);
        return brake;
    }

    private void run() {
        // Whoever ends its shell, or keeps it from starting, lets the machine go on unbraked for a moment only.
        for (int failures = 0; failures < FAILURES_MAX && machine.isAlive(); failures++) {
            try (var brake = new Brake(machine)) {
                watch(brake);
                return;
            } catch (VmException _) {
                // Once more, with another shell.
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private void watch(Brake brake) throws VmException, InterruptedException {
        long read = output.readBytes();
        long since = System.nanoTime();
        boolean held = false;
        while (!stopped.await(held ? 0 : LOOK_EVERY_MS, TimeUnit.MILLISECONDS) && machine.isAlive()) {
            boolean unread = output.unreadBytes() > UNREAD_BYTES_MAX;
            if (!unread || output.readBytes() != read) {
                read = output.readBytes();
                since = System.nanoTime();
            }
            held = unread && System.nanoTime() - since < STANDS_STILL.toNanos() && gate.hold(brake, HELD);
        }
    }

    /// Lets the machine go, at the latest after a hold that has begun.
    @Override
    public void close() {
        stopped.countDown();
    }
}
