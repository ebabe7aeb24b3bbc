package blackbox.node.record;

import blackbox.node.control.PauseGate;
import blackbox.node.control.RunControl;
import blackbox.recorder.capture.CapturedFiles;
import blackbox.recorder.capture.KeptOutput;
import blackbox.recorder.capture.KeptStream;
import blackbox.recorder.capture.PrintedStream;
import blackbox.recorder.capture.TerminalCast;
import blackbox.recorder.feed.GuestFeeds;
import blackbox.recorder.feed.MachineLog;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.CaptureName;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.machine.AgentHandover;
import blackbox.vm.machine.GuestEntropy;
import blackbox.vm.machine.GuestMessage.Exit;
import blackbox.vm.machine.GuestMessage.Started;
import blackbox.vm.machine.GuestMessage.TracerEnded;
import blackbox.vm.machine.Machine;
import blackbox.vm.machine.Terminal;
import blackbox.vm.workspace.WorkspaceDisk;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The agent in its VM: starts it, waits for it, brings its workspace back, ends the VM. If it is interrupted, the
/// agent is ended, its workspace still comes back, and the run is closed as interrupted.
final class AgentRun {

    private static final Duration FOREVER = Duration.ofDays(365);
    private static final Duration GRACE = Duration.ofSeconds(5);
    private static final Duration POWER_OFF_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration INTERRUPT_GRACE = Duration.ofMillis(1500);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(60);
    private static final int SIGTERM = 15;
    private static final int SIGKILL = 9;
    private static final int TIMED_OUT = 124;
    private static final int FAILED = 125;
    private static final int SIGNALLED = 128;
    private static final String BLIND = "tracer-ended";

    private final Machine vm;
    private final RecordRequest request;
    private final @Nullable String trusted;
    private final GuestEntropy entropy;
    private final Path workspace;
    private final StandardStreams streams;
    private final KeptStream stdin;
    private final KeptOutput output;
    private final @Nullable TerminalCast cast;
    private final MachineLog log;
    private final RecordListener listener;
    private final Progress progress;
    private final InstantSource wall = InstantSource.system();
    private boolean saidEnded;
    private final CountDownLatch started = new CountDownLatch(1);
    private final CountDownLatch exited = new CountDownLatch(1);
    /// The signal that this process was interrupted with, or 0.
    private volatile int interruption;
    private final PauseGate gate = new PauseGate();
    /// Whether somebody has ended the run, and whether it is known how it ends; both guarded by the gate.
    private boolean killed;

    private boolean decided;
    private volatile boolean alive = true;
    private volatile boolean endsNow;
    private volatile @Nullable String stopped;
    private volatile boolean tracerEnded;
    /// The newest size that the agent's terminal is to have; null if it never changed.
    private volatile @Nullable Terminal wanted;
    /// The one that the guest was told of last. Guarded by this.
    private @Nullable Terminal given;
    private @Nullable Started began;
    private @Nullable Exit ended;

    AgentRun(
            Machine vm,
            RecordRequest request,
            @Nullable String trusted,
            GuestEntropy entropy,
            Path workspace,
            StandardStreams streams,
            CapturedFiles captures,
            MachineLog log,
            RecordListener listener)
            throws IOException {
        this.vm = vm;
        this.request = request;
        this.trusted = trusted;
        this.entropy = entropy;
        this.given = request.agent().terminal();
        this.workspace = workspace;
        this.streams = streams;
        this.stdin = captures.stdin(streams.in());
        this.output = captures.output();
        this.cast = cast(request.agent().terminal(), captures);
        this.log = log;
        this.listener = listener;
        this.progress = listener::say;
    }

    /// How it ended.
    ///
    /// @param exitCode the agent's own, null if a signal ended it or it is not known
    /// @param why `exited`, `timeout`, `interrupted`, `killed`, or what failed
    /// @param out the archive that came back, or null
    record Ending(
            @Nullable Integer exitCode,
            @Nullable Integer signal,
            int shellCode,
            String why,
            @Nullable Path workspace,
            WorkspaceDisk.@Nullable Unpacked out) {

        /// The same, if it was ended from outside at that moment.
        private Ending killed() {
            return new Ending(exitCode, signal, SIGNALLED + SIGKILL, "killed", workspace, out);
        }

        /// The detail of the run's close.
        ///
        /// @param clock the guest's wall clock during the run
        /// @param stdin what the agent was given
        /// @param output what it printed
        /// @param unsealed why a captured file is not sealed to its end, by name
        private String json(RunClock clock, KeptStream stdin, KeptOutput output, SortedMap<String, String> unsealed) {
            ObjectNode node = new ObjectMapper().createObjectNode().put("ended", why);
            if (out != null) {
                node.putObject("workspaceOut")
                        .put("sha256", out.archive().sha256().toString())
                        .put("bytes", out.archive().bytes());
            }
            node.putObject("stdin").put("bytes", stdin.octets()).put("ended", stdin.ended());
            for (PrintedStream stream : PrintedStream.values()) {
                node.putObject(stream.word())
                        .put("bytes", output.printedBytes(stream))
                        .put("ended", output.hasEnded(stream));
            }
            if (!unsealed.isEmpty()) {
                ObjectNode files = node.putObject("unsealed");
                unsealed.forEach(files::put);
            }
            clock.put(node);
            return node.toString();
        }
    }

    /// Waits until the agent has been started, or until it is clear that it will not be.
    void awaitStarted() {
        try {
            started.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Runs the agent and ends the VM. A failure of the VM is an ending too: what was recorded until then is
    /// closed and kept.
    Ending run(GuestFeeds feeds, RunControl control) throws InterruptedException {
        Thread owner = Thread.currentThread();
        Thread onSignal = new Thread(() -> endNow(owner), "interrupt");
        Runtime.getRuntime().addShutdownHook(onSignal);
        try {
            Ending ended = agent(feeds, control);
            return decide() ? ended : ended.killed();
        } catch (VmException e) {
            if (!decide()) {
                return new Ending(null, null, SIGNALLED + SIGKILL, "killed", null, null);
            }
            if (interruption != 0) {
                return new Ending(null, null, SIGNALLED + interruption, "interrupted", null, null);
            }
            String why = stopped;
            progress.say("the VM failed: " + (why == null ? e.getMessage() : why));
            return new Ending(null, null, FAILED, why == null ? "vm-failed: " + e.code() : why, null, null);
        } finally {
            started.countDown();
            exited.countDown();
            gate.abandon();
            control.close();
            agentEnded();
            feeds.expectSilence();
            endVm();
            endStreams();
            if (!endsNow) {
                Runtime.getRuntime().removeShutdownHook(onSignal);
            }
        }
    }

    /// The detail of the run's close, once [#run] has returned.
    ///
    /// @param unsealed why a captured file is not sealed to its end, by name
    String closing(Ending ending, SortedMap<String, String> unsealed) {
        var clock = new RunClock(
                began == null ? null : began.wallNanos(), ended == null ? null : ended.wallNanos(), vm.clockDrift());
        var incomplete = new TreeMap<>(unsealed);
        IOException unstored = stdin.failure();
        if (unstored != null) {
            incomplete.put(CaptureName.STDIN.text(), "it could not be written: " + unstored.getMessage());
        }
        String cut = cast == null ? null : cast.cut();
        if (cut != null) {
            incomplete.put(CaptureName.TERMINAL.text(), cut);
        }
        for (PrintedStream stream : PrintedStream.values()) {
            IOException lost = output.failure(stream);
            if (lost != null) {
                incomplete.put(stream.word(), FailedWrite.inWords(lost));
            }
        }
        return ending.json(clock, stdin, output, incomplete);
    }

    /// Ends the agent as a timeout does, but sooner: its workspace comes back and the run is closed, as far as the
    /// guest cooperates. Returns when the agent has ended, or its VM.
    ///
    /// @param signal the one that this process was interrupted with
    void interrupt(int signal) {
        interruption = signal;
        if (gate.isShut()) {
            stop("interrupted while it was paused"); // its guest answers nobody, and is not to go on
            return;
        }
        try {
            for (int next : new int[] {SIGTERM, SIGKILL}) {
                if (started.getCount() == 0 && exited.getCount() > 0) {
                    vm.signalAgent(next);
                }
                if (exited.await(INTERRUPT_GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
                    return;
                }
                // It may have ended, and only its output be read by nobody.
                vm.abandonOutput();
            }
            vm.kill();
        } catch (VmException e) {
            stop(String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Whether this process was interrupted.
    boolean isInterrupted() {
        return interruption != 0;
    }

    /// Runs when this process is told to end: ends the VM at once, and holds the process until the VM's owner has
    /// closed the run, for at most [#CLOSE_TIMEOUT].
    private void endNow(Thread owner) {
        endsNow = true;
        interruption = interruption == 0 ? SIGTERM : interruption;
        gate.abandon();
        progress.say("interrupted: ending the VM and closing the run");
        try {
            vm.kill();
            owner.join(CLOSE_TIMEOUT);
        } catch (VmException e) {
            progress.say(String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Those who wait for the guest wait here while it is paused.
    PauseGate gate() {
        return gate;
    }

    /// What ends the run from another thread at once, because somebody wants it.
    blackbox.node.control.Ending ending() {
        return new blackbox.node.control.Ending() {
            @Override
            public boolean claim() {
                synchronized (gate) {
                    killed |= !decided;
                    return !decided;
                }
            }

            @Override
            public boolean end() {
                stop("killed");
                return !alive;
            }
        };
    }

    /// How the run ends is known now.
    ///
    /// @return false if somebody has ended it
    private boolean decide() {
        synchronized (gate) {
            decided = true;
            return !killed;
        }
    }

    /// Ends the VM from another thread, because the run cannot continue.
    void stop(String why) {
        stopped = why;
        gate.abandon();
        try {
            vm.kill();
            alive = false;
        } catch (VmException e) {
            progress.say(String.valueOf(e.getMessage()));
        }
    }

    private Ending agent(GuestFeeds feeds, RunControl control) throws VmException, InterruptedException {
        vm.onTracerEnded(this::tracerEnded);
        vm.prepareAgent(
                request.agent().toCommand(trusted),
                entropy,
                stdin,
                output.through(
                        PrintedStream.STDOUT, cast == null ? streams.out() : new ShownOutput(streams.out(), cast)),
                output.through(PrintedStream.STDERR, streams.error()));
        listener.agentStarts();
        Started first = vm.launchAgent(wall.instant());
        began = first;
        log.agentStarted(first.pid(), first.cgroupId(), first.bootNanos());
        started.countDown();
        control.begin();
        resize();
        Duration timeout = request.agent().timeout();
        Exit exit;
        String why = "exited";
        try {
            exit = awaitExit(timeout == null ? FOREVER : timeout);
            ended = exit;
        } catch (VmException e) {
            if (e.code() != Code.TIMEOUT || interruption != 0) {
                throw e;
            }
            gate.end();
            progress.say("the timeout was reached: ending the command");
            why = "timeout";
            exit = terminate();
        }
        exited.countDown();
        gate.end();
        agentEnded();
        if (exit == null) {
            return new Ending(null, null, TIMED_OUT, why, null, null);
        }
        log.agentEnded(exit.code(), exit.signal());
        exit.limits().forEach(log::limitReached);
        WorkspaceDisk.Unpacked out = handOver(feeds);
        int signal = interruption;
        why = tracerEnded ? BLIND : why;
        int code = signal != 0 ? SIGNALLED + signal : shellCode(why, exit);
        return new Ending(
                exit.code(),
                exit.signal(),
                code,
                signal != 0 ? "interrupted" : why,
                out == null ? null : workspace,
                out);
    }

    /// Waits for the agent's end; the time for which it was paused does not count.
    private Exit awaitExit(Duration timeout) throws VmException {
        Duration left = timeout;
        Duration allowed = Duration.ZERO;
        while (true) {
            try {
                return vm.awaitExit(left);
            } catch (VmException e) {
                Duration paused = gate.shutFor();
                left = paused.minus(allowed);
                allowed = paused;
                if (e.code() != Code.TIMEOUT || left.isZero()) {
                    throw e;
                }
            }
        }
    }

    private static int shellCode(String why, Exit exit) {
        return switch (why) {
            case "timeout" -> TIMED_OUT;
            case BLIND -> FAILED;
            default -> exit.shellCode();
        };
    }

    /// The guest has frozen the agent and is about to end it. Its exit is awaited as any other, so that what it did
    /// until then is drained and its workspace comes back.
    private void tracerEnded(TracerEnded end) {
        if (tracerEnded) {
            return; // only a guest that lies says it twice
        }
        tracerEnded = true;
        long frozenAfterNs = end.frozenNanos() < end.bootNanos() ? -1 : end.frozenNanos() - end.bootNanos();
        log.tracerEnded(end.status(), frozenAfterNs);
        String how = end.status() < 0 ? "signal " + -end.status() : "exit code " + end.status();
        String frozen = frozenAfterNs < 0 ? "could not be frozen" : "was frozen after " + frozenAfterNs / 1000 + " µs";
        progress.say("the guest's tracer ended (" + how + "): the command " + frozen
                + ", and is ended; what it did until then is recorded");
    }

    /// What the guest does to hand its workspace over is part of the run, down to the last event. How the
    /// command ended is known by now and is kept even if this fails.
    private WorkspaceDisk.@Nullable Unpacked handOver(GuestFeeds feeds) throws VmException {
        AgentHandover handover;
        try {
            handover = AgentHandover.of(vm, workspace, feeds::expectSilence);
        } catch (VmException e) {
            feeds.missTheLast(); // what the guest did for it was not drained
            throw e;
        }
        WorkspaceDisk.Unpacked out = handover.workspace();
        String notice = out == null ? null : out.notice();
        if (notice != null) {
            progress.say(notice);
        }
        VmException refused = handover.refused();
        if (refused != null) {
            progress.say("the workspace could not be copied back: " + refused.getMessage());
        }
        VmException undrained = handover.undrained();
        if (undrained != null) {
            feeds.missTheLast();
            if (endsNow || stopped != null) {
                throw undrained;
            }
            progress.say("the run's last events may be missing: " + undrained.getMessage());
        }
        return out;
    }

    private @Nullable Exit terminate() throws VmException {
        for (int signal : new int[] {SIGTERM, SIGKILL}) {
            vm.signalAgent(signal);
            try {
                return vm.awaitExit(GRACE);
            } catch (VmException e) {
                if (e.code() != Code.TIMEOUT || interruption != 0) {
                    throw e;
                }
            }
        }
        return null;
    }

    private @Nullable TerminalCast cast(@Nullable Terminal terminal, CapturedFiles captures) throws IOException {
        return terminal == null
                ? null
                : new TerminalCast(
                        CaptureName.TERMINAL.in(captures.folder()),
                        captures.limits().framesBytesMax(),
                        terminal.columns(),
                        terminal.rows(),
                        terminal.type(),
                        wall.instant().getEpochSecond(),
                        System::nanoTime);
    }

    /// Resizes the agent's terminal, as soon as the agent has started.
    void resize(int rows, int columns) {
        Terminal terminal = request.agent().terminal();
        if (terminal != null) {
            wanted = terminal.resized(rows, columns);
            resize();
        }
    }

    private synchronized void resize() {
        Terminal newest = wanted;
        TerminalCast shown = cast;
        if (newest == null || newest.equals(given) || shown == null) {
            return;
        }
        if (started.getCount() > 0 || exited.getCount() == 0) {
            return;
        }
        try {
            vm.resizeTerminal(newest);
            given = newest;
            shown.resized(newest.columns(), newest.rows());
        } catch (VmException e) {
            progress.say("the terminal's new size did not reach the guest: " + e.getMessage());
        }
    }

    /// Says once that the output is no longer the agent's, however it ended.
    private void agentEnded() {
        if (!saidEnded) {
            saidEnded = true;
            listener.agentEnded();
        }
    }

    /// Ends what is stored of the agent's input and output. What is printed after this, which only a slow reader can
    /// still get, is not stored: its stream has then not ended in the record.
    private void endStreams() {
        try {
            stdin.close();
            output.close();
            if (cast != null) {
                cast.close();
            }
        } catch (IOException e) {
            progress.say("the agent's input or output may be stored incompletely: " + e.getMessage());
        }
    }

    private void endVm() {
        try {
            vm.powerOff(POWER_OFF_TIMEOUT);
        } catch (VmException e) {
            progress.say("the VM did not shut down cleanly: " + e.getMessage());
            stop("the VM did not shut down cleanly");
        }
    }
}
