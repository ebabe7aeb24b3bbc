package blackbox.vm.guest;

import blackbox.vm.Json;
import blackbox.vm.LineReader;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.machine.AgentCommand;
import blackbox.vm.machine.AgentCommand.AgentUser;
import blackbox.vm.machine.ClockPace;
import blackbox.vm.machine.ClockReading;
import blackbox.vm.machine.GuestEntropy;
import blackbox.vm.machine.GuestMessage;
import blackbox.vm.machine.GuestMessage.Closed;
import blackbox.vm.machine.GuestMessage.Collected;
import blackbox.vm.machine.GuestMessage.Collection;
import blackbox.vm.machine.GuestMessage.Drained;
import blackbox.vm.machine.GuestMessage.Exit;
import blackbox.vm.machine.GuestMessage.Failure;
import blackbox.vm.machine.GuestMessage.HostFailure;
import blackbox.vm.machine.GuestMessage.Pong;
import blackbox.vm.machine.GuestMessage.Prepared;
import blackbox.vm.machine.GuestMessage.Ready;
import blackbox.vm.machine.GuestMessage.Started;
import blackbox.vm.machine.GuestMessage.Synced;
import blackbox.vm.machine.GuestMessage.Told;
import blackbox.vm.machine.GuestMessage.TracerEnded;
import blackbox.vm.machine.GuestMessage.Uncollected;
import blackbox.vm.machine.Terminal;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// The control port: JSON lines to and from the guest's first process. Any thread may send, a line at a time;
/// one thread waits for answers. A guest that sends more than is waited for fills the queue, and then nothing
/// more is read from it. Only its answers about its clock go elsewhere, to the caller of [#tellClock], and
/// what it says about its disk.
public final class GuestControl {
    private static final int LINE_BYTES_MAX = 1 << 20;
    private static final int MESSAGES_MAX = 64;
    private static final long LOOK_NS = 100_000_000;
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(20);
    /// The longest step is unpacking gigabytes of workspace under emulation.
    private static final Duration START_TIMEOUT = Duration.ofMinutes(10);

    private final SocketChannel channel;
    private final BlockingQueue<GuestMessage> messages = new ArrayBlockingQueue<>(MESSAGES_MAX);
    /// Unexpected messages are dropped.
    private final BlockingQueue<Told> told = new ArrayBlockingQueue<>(MESSAGES_MAX);
    private volatile LongConsumer synced = bootNanos -> {};
    private volatile Consumer<TracerEnded> tracerEnded = end -> {};
    private final ReentrantLock saying = new ReentrantLock();
    /// The id of the question that the guest has not answered yet, or 0. Owned by the clock's thread.
    private long owed;
    private long lastPing;
    /// Whether no more messages come.
    private volatile boolean ended;

    /// Takes over the control port.
    public GuestControl(SocketChannel channel) {
        this.channel = channel;
        Thread.ofPlatform().daemon().name("guest-control").start(this::read);
    }

    /// Waits until the tracer is attached and an agent may be prepared.
    public Ready awaitReady(Duration timeout) throws VmException {
        return await(Ready.class, "get ready", timeout);
    }

    /// Asks the guest for its clocks.
    public ClockReading ping(InstantSource wall) throws VmException {
        Instant before = wall.instant();
        long asked = System.nanoTime();
        say(Json.object().put("op", "ping").put("id", ++lastPing));
        Pong pong = await(Pong.class, "answer", ANSWER_TIMEOUT);
        long roundTrip = System.nanoTime() - asked;
        return new ClockReading(before.plusNanos(roundTrip / 2), pong.bootNanos(), pong.wallNanos(), roundTrip);
    }

    /// Has the guest prepare everything for its agent; returns when the agent is ready to be launched.
    ///
    /// @param workspaceBytes length of the archive on the workspace's input disk
    public void prepare(AgentCommand command, GuestEntropy entropy, long workspaceBytes) throws VmException {
        ObjectNode message = Json.object().put("op", "start");
        Base64.Encoder base64 = Base64.getEncoder();
        var arguments = message.putArray("argv");
        command.argv().forEach(each -> arguments.add(base64.encodeToString(each)));
        var variables = message.putArray("env");
        command.environment().forEach(each -> variables.add(base64.encodeToString(each)));
        Terminal terminal = command.terminal();
        if (terminal != null) {
            size(message.putObject("tty"), terminal).put("term", terminal.type());
        }
        if (command.trusted() != null) {
            message.put("trusted", command.trusted());
        }
        say(message.put("cwd", command.cwd())
                .put("user", command.user() == AgentUser.ROOT ? "root" : "agent")
                .put("pidsMax", command.limits().pidsMax())
                .put("diskBytesMax", command.limits().diskBytesMax())
                .put("workspaceBytes", workspaceBytes)
                .put("entropy", base64.encodeToString(entropy.octets())));
        Prepared prepared = await(Prepared.class, "get ready for the agent", START_TIMEOUT);
        if (command.trusted() != null && !prepared.trusts()) {
            throw new VmException(
                    Code.IMAGE_DEFINITION,
                    "the guest cannot trust the egress gateway: its image was built by an older Blackbox; build it again"
                            + " with blackbox image build");
        }
    }

    /// Has `listener` receive up to when, on the guest's boot clock, all that was written to its disk is there.
    /// Called on the thread that reads the port.
    public void onSynced(LongConsumer listener) {
        synced = listener;
    }

    /// Has `listener` receive that the tracer ended. Called on the thread that reads the port.
    public void onTracerEnded(Consumer<TracerEnded> listener) {
        tracerEnded = listener;
    }

    /// Resizes the agent's terminal.
    public void resize(Terminal terminal) throws VmException {
        say(size(Json.object().put("op", "resize"), terminal));
    }

    private static ObjectNode size(ObjectNode message, Terminal terminal) {
        return message.put("rows", terminal.rows()).put("columns", terminal.columns());
    }

    /// Has the guest set its wall clock to `now` and execute the agent at once.
    public Started launch(Instant now) throws VmException {
        say(Json.object().put("op", "launch").put("wallNs", ClockKeeper.nanos(now)));
        return await(Started.class, "start the agent", START_TIMEOUT);
    }

    /// Waits until the agent has ended.
    ///
    /// @throws VmException `TIMEOUT` when it runs longer than `timeout`
    public Exit awaitExit(Duration timeout) throws VmException {
        return await(Exit.class, "end the agent", timeout);
    }

    /// Sends the agent's first process a signal, by Linux's number.
    public void signal(int number) throws VmException {
        say(Json.object().put("op", "signal").put("number", number));
    }

    /// Has the tracer send everything that it still holds; returns when it has done so.
    public void drain(Duration timeout) throws VmException {
        say("drain");
        await(Drained.class, "drain the tracer", timeout);
    }

    /// Has the guest write its workspace to the output disk; returns how many octets the archive has.
    ///
    /// @throws VmException `WORKSPACE_REFUSED` when the guest says that it has none
    public long collect(Duration timeout) throws VmException {
        say("collect");
        return switch (await(Collection.class, "collect the workspace", timeout)) {
            case Collected(long bytes) -> bytes;
            case Uncollected(String what) ->
                throw new VmException(Code.WORKSPACE_REFUSED, "the guest reports: " + what);
        };
    }

    /// Has the guest shut down cleanly.
    public void powerOff() throws VmException {
        say("poweroff");
    }

    private void say(ObjectNode message) throws VmException {
        ByteBuffer line = ByteBuffer.wrap((Json.line(message) + "\n").getBytes(StandardCharsets.UTF_8));
        saying.lock();
        try {
            while (line.hasRemaining()) {
                channel.write(line);
            }
        } catch (IOException e) {
            throw new VmException(Code.QEMU_FAILED, "the VM has ended", e);
        } finally {
            saying.unlock();
        }
    }

    /// Tells the guest the host's time and waits for its answer; null if none arrives in time. A guest that
    /// still owes an answer is not told again, because it may not be reading at all, and its port would fill
    /// up. One thread, which need not be the one that waits for other messages.
    @Nullable
    Told tellClock(long id, long wallNanos, Duration timeout) throws VmException, InterruptedException {
        return tellClock(id, Json.object().put("wallNs", wallNanos), timeout);
    }

    /// The same, and sets at which pace the guest's clocks run from now on.
    public @Nullable Told tellClock(long id, Instant time, ClockPace pace, Duration timeout)
            throws VmException, InterruptedException {
        var message = Json.object()
                .put("wallNs", ClockKeeper.nanos(time))
                .put("tickUs", pace.tickUs())
                .put("aheadMs", pace.aheadMs());
        return tellClock(id, message, timeout);
    }

    private @Nullable Told tellClock(long id, ObjectNode message, Duration timeout)
            throws VmException, InterruptedException {
        if (owed != 0 && told(owed, timeout) == null) {
            return null;
        }
        told.clear();
        owed = id;
        say(message.put("op", "clock").put("id", id));
        Told answer = told(id, timeout);
        owed = answer == null ? id : 0;
        return answer;
    }

    private @Nullable Told told(long id, Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        for (long left = timeout.toNanos(); left > 0 && !ended; left = deadline - System.nanoTime()) {
            Told answer = told.poll(Math.min(left, LOOK_NS), TimeUnit.NANOSECONDS);
            if (answer != null && answer.id() == id) {
                return answer;
            }
        }
        return null;
    }

    private void say(String operation) throws VmException {
        say(Json.object().put("op", operation));
    }

    /// Tells whoever waits for the guest that the host cannot continue.
    public void fail(HostFailure failure) {
        putLast(failure);
    }

    /// Puts a message behind what waits, in the place of the oldest where the guest has filled the queue.
    private void putLast(GuestMessage message) {
        while (!messages.offer(message)) {
            messages.poll();
        }
    }

    /// Waits for a message of one kind; earlier messages of other kinds are dropped, except failures and the
    /// end.
    ///
    /// @param what what is waited for, in words that complete "the guest did not …"
    /// @throws VmException `GUEST_FAILED`, `QEMU_FAILED` when the VM ended, `TIMEOUT`
    private <M extends GuestMessage> M await(Class<M> kind, String what, Duration timeout) throws VmException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (true) {
            GuestMessage message = next(deadline - System.nanoTime());
            switch (message) {
                case null ->
                    throw new VmException(
                            Code.TIMEOUT, "the guest did not " + what + " within " + timeout.toSeconds() + " s");
                case Failure failure ->
                    throw new VmException(Code.GUEST_FAILED, "the guest reports: " + failure.what());
                case HostFailure failure -> {
                    putLast(failure);
                    throw new VmException(failure.code(), failure.what());
                }
                case Closed closed -> {
                    putLast(closed);
                    throw new VmException(Code.QEMU_FAILED, "the VM ended before it could " + what + closed.why());
                }
                default -> {
                    if (kind.isInstance(message)) {
                        return kind.cast(message);
                    }
                }
            }
        }
    }

    private @Nullable GuestMessage next(long nanos) throws VmException {
        try {
            return messages.poll(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "interrupted while waiting for the guest", e);
        }
    }

    private void read() {
        var lines = new LineReader(Channels.newInputStream(channel), LINE_BYTES_MAX);
        String why = "";
        try {
            for (String line = lines.next(); line != null; line = lines.next()) {
                GuestMessage message = GuestMessage.parse(line);
                switch (message) {
                    case Told clock -> {
                        boolean unused = told.offer(clock);
                    }
                    case Synced disk -> synced.accept(disk.bootNanos());
                    case TracerEnded end -> tracerEnded.accept(end);
                    default -> messages.put(message);
                }
            }
        } catch (JsonProcessingException | IllegalArgumentException | LineReader.TooLongException e) {
            why = ": it broke the control protocol";
        } catch (IOException e) {
            why = ""; // the connection broke: the VM has ended
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        ended = true;
        putLast(new Closed(why));
    }
}
