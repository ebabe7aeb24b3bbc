package blackbox.vm.process;

import blackbox.vm.Command;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.guest.HoldGate;
import blackbox.vm.machine.MachineBrake;
import blackbox.vm.qmp.QmpClient;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Stops a QEMU: through its monitor, and then by SIGSTOP, which a guest that has taken it over cannot refuse, and if
/// it is confined not undo. Nothing here waits for a QEMU that does not answer, or reads nothing, but for a time.
final class QemuBrake implements MachineBrake {
    private static final Duration STOP_PATIENCE = Duration.ofMillis(500);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final long LOOK_EVERY_MS = 2;
    private static final int STAT_BYTES_MAX = 4096;
    /// A thread that has ended, or whose process has, executes nothing either; nor does one in the kernel (D), which
    /// takes
    /// the signal before it leaves that.
    private static final String STOPPED = "TtZXD";

    /// More would fill the socket of a QEMU that reads nothing, and then whoever writes to it waits for ever.
    private static final int UNANSWERED_MAX = 40;

    private final QmpClient qmp;
    private final ProcessHandle qemu;
    /// All that are stopped.
    private final List<ProcessHandle> processes;

    private final HoldGate gate;
    /// The last command that its monitor was sent, which may be carried out late.
    private @Nullable FutureTask<JsonNode> asked;

    /// How many commands in a row were not answered.
    private int unanswered;

    private volatile boolean held;

    /// @param qemu the process itself, and not one around it
    /// @param network the process that takes its guest's frames to the network, if there is one
    /// @param gate nobody holds it for moments while it is shut
    QemuBrake(QmpClient qmp, ProcessHandle qemu, @Nullable ProcessHandle network, HoldGate gate) {
        this.qmp = qmp;
        this.qemu = qemu;
        this.processes = network == null ? List.of(qemu) : List.of(qemu, network);
        this.gate = gate;
    }

    /// Whether its monitor answers nothing because the host's kernel has stopped it.
    boolean isHeld() {
        return held;
    }

    @Override
    public synchronized void stop() throws VmException {
        gate.shut();
        if (!held || !isStopped()) {
            ask("stop", STOP_PATIENCE);
        }
    }

    @Override
    public synchronized void hold() throws VmException {
        gate.shut();
        signal("-STOP");
        held = true;
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
        try {
            if (held) {
                signal("-CONT");
                held = false;
            }
            ask("cont", PATIENCE);
        } finally {
            gate.open();
        }
    }

    @Override
    public synchronized State look() throws VmException {
        if (!qemu.isAlive()) {
            throw new VmException(Code.QEMU_FAILED, "QEMU has ended");
        }
        if (held) {
            if (isStopped()) {
                return State.HELD;
            }
            signal("-STOP");
            throw new VmException(Code.QEMU_FAILED, "the host's kernel did not say that QEMU is stopped");
        }
        if (unanswered >= UNANSWERED_MAX) {
            throw new VmException(Code.TIMEOUT, "QEMU answers nothing any more");
        }
        String status = ask("query-status", PATIENCE).path("status").asText();
        return switch (status) {
            case "running" -> State.RUNNING;
            case "paused" -> State.STOPPED;
            default -> throw new VmException(Code.QEMU_FAILED, "QEMU says that its guest is in another state");
        };
    }

    /// Has its monitor carry out a command. One that is carried out after its time could stop a guest that was let go:
    /// nothing else is asked until it is done.
    private JsonNode ask(String command, Duration patience) throws VmException {
        FutureTask<JsonNode> late = asked;
        if (late != null && !late.isDone()) {
            settle(late);
        }
        var task = new FutureTask<>(() -> qmp.execute(command, PATIENCE));
        asked = task;
        Thread.ofPlatform().daemon().name("qemu-" + command).start(task);
        unanswered++;
        JsonNode answer = await(task, patience);
        unanswered = 0;
        return answer;
    }

    /// How it ended is nobody's business any more.
    private static void settle(FutureTask<JsonNode> late) throws VmException {
        try {
            await(late, PATIENCE);
        } catch (VmException e) {
            if (!late.isDone()) {
                throw e;
            }
        }
    }

    private static JsonNode await(FutureTask<JsonNode> task, Duration patience) throws VmException {
        try {
            return task.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new VmException(Code.TIMEOUT, "QEMU did not answer within " + patience.toMillis() + " ms", e);
        } catch (ExecutionException e) {
            throw new VmException(Code.QEMU_FAILED, "QEMU refused, or has ended", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "interrupted while QEMU was asked", e);
        }
    }

    private void signal(String signal) throws VmException {
        if (!qemu.isAlive()) {
            throw new VmException(Code.QEMU_FAILED, "QEMU has ended");
        }
        var argv = new ArrayList<>(List.of("kill", signal));
        processes.stream().filter(ProcessHandle::isAlive).forEach(each -> argv.add(Long.toString(each.pid())));
        Command.of(argv.toArray(String[]::new)).run();
    }

    /// Whether all its threads are, as `/proc/PID/task/TID/stat` says (proc(5)); the first may have ended before the
    /// others.
    private boolean isStopped() throws VmException {
        for (ProcessHandle each : processes) {
            if (each.isAlive() && !isStopped(each)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isStopped(ProcessHandle process) throws VmException {
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(process.pid()), "task"))) {
            List<Path> all = threads.toList();
            return !all.isEmpty() && all.stream().allMatch(QemuBrake::isStopped);
        } catch (IOException | UncheckedIOException e) {
            throw new VmException(Code.QEMU_FAILED, "the host's kernel does not say whether QEMU is stopped", e);
        }
    }

    /// By the third field; the second is a name in brackets that may hold anything.
    private static boolean isStopped(Path thread) {
        try (var stat = Files.newInputStream(thread.resolve("stat"))) {
            String line = new String(stat.readNBytes(STAT_BYTES_MAX), StandardCharsets.ISO_8859_1);
            int state = line.lastIndexOf(')') + 2;
            return state > 1 && state < line.length() && STOPPED.indexOf(line.charAt(state)) >= 0;
        } catch (IOException e) {
            return false; // it is looked at again
        }
    }
}
