package blackbox.vm.process;

import blackbox.vm.Command;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.machine.MachineBrake;
import blackbox.vm.qmp.QmpClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Stops a QEMU: through its monitor, and then by SIGSTOP, which a guest that has taken it over cannot refuse.
final class QemuBrake implements MachineBrake {
    private static final Duration STOP_PATIENCE = Duration.ofMillis(500);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final long LOOK_EVERY_MS = 2;
    private static final int STAT_BYTES_MAX = 4096;

    private final QmpClient qmp;
    private final ProcessHandle qemu;
    /// The last `stop` that its monitor was sent, which may be carried out late.
    private @Nullable FutureTask<Void> asked;

    private volatile boolean held;

    /// @param qemu the process itself, and not one around it
    QemuBrake(QmpClient qmp, ProcessHandle qemu) {
        this.qmp = qmp;
        this.qemu = qemu;
    }

    /// Whether its monitor answers nothing because the host's kernel has stopped it.
    boolean isHeld() {
        return held;
    }

    @Override
    public synchronized void stop() throws VmException {
        var task = new FutureTask<Void>(() -> {
            qmp.execute("stop", PATIENCE);
            return null;
        });
        asked = task;
        Thread.ofPlatform().daemon().name("qemu-stop").start(task);
        await(task, STOP_PATIENCE);
    }

    @Override
    public synchronized void hold() throws VmException {
        held = true;
        signal("-STOP");
        long due = System.nanoTime() + PATIENCE.toNanos();
        try {
            while (!isStopped()) {
                if (System.nanoTime() > due || !qemu.isAlive()) {
                    throw new VmException(Code.QEMU_FAILED, "the host's kernel did not stop QEMU");
                }
                TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "interrupted while QEMU was stopped", e);
        }
    }

    @Override
    public synchronized void release() throws VmException {
        if (held) {
            signal("-CONT");
            held = false;
        }
        FutureTask<Void> late = asked;
        asked = null;
        if (late != null) {
            settle(late);
        }
        qmp.execute("cont", PATIENCE);
    }

    @Override
    public synchronized State look() throws VmException {
        if (held) {
            if (isStopped()) {
                return State.HELD;
            }
            throw new VmException(Code.QEMU_FAILED, "the host's kernel does not say that QEMU is stopped");
        }
        String status = qmp.execute("query-status", PATIENCE).path("status").asText();
        return switch (status) {
            case "running" -> State.RUNNING;
            case "paused" -> State.STOPPED;
            default -> throw new VmException(Code.QEMU_FAILED, "QEMU says that its guest is '" + status + "'");
        };
    }

    /// A stop that is carried out after its time would stop a guest that was let go.
    private static void settle(FutureTask<Void> late) throws VmException {
        try {
            await(late, PATIENCE.multipliedBy(2));
        } catch (VmException e) {
            if (!late.isDone()) {
                throw e;
            }
        }
    }

    private static void await(FutureTask<Void> task, Duration patience) throws VmException {
        try {
            task.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new VmException(Code.TIMEOUT, "QEMU did not stop its guest within " + patience.toMillis() + " ms", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof VmException why
                    ? why
                    : new VmException(Code.QEMU_FAILED, "QEMU did not stop its guest", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "interrupted while QEMU stopped its guest", e);
        }
    }

    private void signal(String signal) throws VmException {
        if (!qemu.isAlive()) {
            throw new VmException(Code.QEMU_FAILED, "QEMU has ended");
        }
        Command.of("kill", signal, Long.toString(qemu.pid())).run();
    }

    /// By `/proc/PID/stat` (proc(5)), whose second field is a name in brackets that may hold anything.
    private boolean isStopped() throws VmException {
        try (var stat = Files.newInputStream(Path.of("/proc", Long.toString(qemu.pid()), "stat"))) {
            String line = new String(stat.readNBytes(STAT_BYTES_MAX), StandardCharsets.ISO_8859_1);
            int state = line.lastIndexOf(')') + 2;
            return state > 1 && state < line.length() && line.charAt(state) == 'T';
        } catch (IOException e) {
            throw new VmException(Code.QEMU_FAILED, "the host's kernel does not say whether QEMU is stopped", e);
        }
    }
}
