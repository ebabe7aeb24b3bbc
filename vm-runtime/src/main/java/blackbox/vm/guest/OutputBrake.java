package blackbox.vm.guest;

import blackbox.vm.VmException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// Holds a machine while what it has written to a file has not been read. Through a pipe or a socket it would wait by
/// itself; a file takes everything, and a guest that floods it would be gigabytes ahead of its recorder, which then
/// cannot close the run in time. To the guest a pause looks like a slower processor, as those of [ClockKeeper].
///
/// It has its own thread.
public final class OutputBrake implements AutoCloseable {
    /// What takes the recorder about two seconds when the guest makes it as slow as it can.
    public static final long UNREAD_BYTES_MAX = 16 << 20;

    private static final long LOOK_EVERY_MS = 20;
    private static final Duration HELD = Duration.ofMillis(100);

    private final CountDownLatch stopped = new CountDownLatch(1);

    private OutputBrake() {}

    /// Starts to watch, until `machine` has ended or this is closed.
    ///
    /// @param unreadBytes how much is in the file that nobody has read
    public static OutputBrake start(ProcessHandle machine, LongSupplier unreadBytes) {
        var brake = new OutputBrake();
        Thread.ofPlatform().daemon().name("output-brake").start(() -> brake.run(machine, unreadBytes));
        return brake;
    }

    private void run(ProcessHandle machine, LongSupplier unreadBytes) {
        try (var brake = new Brake(machine)) {
            while (!stopped.await(LOOK_EVERY_MS, TimeUnit.MILLISECONDS) && machine.isAlive()) {
                while (stopped.getCount() > 0 && unreadBytes.getAsLong() > UNREAD_BYTES_MAX && machine.isAlive()) {
                    brake.hold(HELD);
                }
            }
        } catch (VmException e) {
            // Its shell was ended by somebody: the machine goes on unbraked, and is recorded all the same.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        stopped.countDown();
    }
}
