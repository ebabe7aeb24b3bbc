package blackbox.vm.machine;

import blackbox.vm.Json;
import blackbox.vm.LineReader;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.machine.GuestMessage.Closed;
import blackbox.vm.machine.GuestMessage.Failure;
import blackbox.vm.machine.GuestMessage.HostFailure;
import blackbox.vm.machine.GuestMessage.Told;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The control port: JSON lines to and from the guest's first process. Any thread may say something, a line at a time;
/// one waits for answers. A guest that says more than we wait for fills the queue and is then no longer read. Only what
/// it says of its clock goes elsewhere, to whoever asks for that ([#tellClock]).
final class GuestControl {
    private static final int LINE_BYTES_MAX = 1 << 20;
    private static final int MESSAGES_MAX = 64;

    private final SocketChannel channel;
    private final BlockingQueue<GuestMessage> messages = new ArrayBlockingQueue<>(MESSAGES_MAX);
    /// What nobody asked for is dropped.
    private final BlockingQueue<Told> told = new ArrayBlockingQueue<>(MESSAGES_MAX);
    private final ReentrantLock saying = new ReentrantLock();
    /// The number of the answer that the guest owes, or 0. Owned by the clock's thread.
    private long owed;

    /// Takes over the control port of `qemu`.
    static GuestControl of(QemuProcess qemu) {
        var control = new GuestControl(qemu.sockets().channel(MachineSockets.Port.CONTROL));
        var unused = qemu.failed().thenAccept(control::fail);
        return control;
    }

    private GuestControl(SocketChannel channel) {
        this.channel = channel;
        Thread.ofPlatform().daemon().name("guest-control").start(this::read);
    }

    void say(ObjectNode message) throws VmException {
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

    /// Tells the guest the host's time and waits for its answer: null when that does not come in time. A guest
    /// that owes an answer is not told again, for it may not read at all, and then its port would fill. For one
    /// thread, beside the one that waits for the rest.
    @Nullable
    Told tellClock(long id, long wallNanos, Duration timeout) throws VmException, InterruptedException {
        if (owed != 0 && told(owed, timeout) == null) {
            return null;
        }
        told.clear();
        owed = id;
        say(Json.object().put("op", "clock").put("id", id).put("wallNs", wallNanos));
        Told answer = told(id, timeout);
        owed = answer == null ? id : 0;
        return answer;
    }

    private @Nullable Told told(long id, Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        for (long left = timeout.toNanos(); left > 0; left = deadline - System.nanoTime()) {
            Told answer = told.poll(left, TimeUnit.NANOSECONDS);
            if (answer != null && answer.id() == id) {
                return answer;
            }
        }
        return null;
    }

    void say(String operation) throws VmException {
        say(Json.object().put("op", operation));
    }

    private void fail(HostFailure failure) {
        while (!messages.offer(failure)) {
            messages.poll();
        }
    }

    /// Waits for a message of one kind; others that come before it are dropped, but for failures and the end.
    ///
    /// @param what we wait for, in words that complete "the guest did not …"
    /// @throws VmException `GUEST_FAILED`, `QEMU_FAILED` when the VM ended, `TIMEOUT`
    <M extends GuestMessage> M await(Class<M> kind, String what, Duration timeout) throws VmException {
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
                    messages.add(failure);
                    throw new VmException(failure.code(), failure.what());
                }
                case Closed closed -> {
                    messages.add(closed);
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
                if (message instanceof Told clock) {
                    boolean unused = told.offer(clock);
                } else {
                    messages.put(message);
                }
            }
        } catch (JsonProcessingException | IllegalArgumentException e) {
            why = ": it broke the control protocol";
        } catch (IOException e) {
            why = ""; // the connection was cut: the end, as good as any other
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        while (!messages.offer(new Closed(why))) {
            messages.poll();
        }
    }
}
