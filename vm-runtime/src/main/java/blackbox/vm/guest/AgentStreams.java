package blackbox.vm.guest;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// The agent's standard streams over the stdio port, with frames as in [AgentOutput] in both directions. Two
/// threads, one per direction; each reads no further than it can write.
public final class AgentStreams {
    private static final int STDIN = 0;

    private final InputStream fromGuest;
    private final WritableByteChannel toGuest;
    private final CountDownLatch ended = new CountDownLatch(1);

    public AgentStreams(InputStream fromGuest, WritableByteChannel toGuest) {
        this.fromGuest = fromGuest;
        this.toGuest = toGuest;
    }

    /// Starts to copy. `out` and `error` are closed when the agent has ended the stream and all of it was passed on,
    /// and never before; `in` is read until its end or the agent's, on a thread that may block in a read
    /// forever.
    public void start(InputStream in, OutputStream out, OutputStream error) {
        Thread.ofPlatform().daemon().name("agent-output").start(() -> receive(out, error));
        Thread.ofPlatform().daemon().name("agent-input").start(() -> send(in));
    }

    /// Waits until the agent's output has all been passed on, for which whoever reads it must read it; at most for
    /// `timeout`, or until [#abandon].
    ///
    /// @throws VmException `TIMEOUT` when the thread was interrupted
    public void awaitEnd(Duration timeout) throws VmException {
        try {
            boolean passedOn = ended.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
            if (!passedOn) {
                abandon();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "interrupted while waiting for the agent's output", e);
        }
    }

    /// Nobody waits for the output's end any more.
    public void abandon() {
        ended.countDown();
    }

    private void receive(OutputStream out, OutputStream error) {
        try (fromGuest) {
            AgentOutput.read(fromGuest, new AgentOutput.Sink() {
                @Override
                public void take(AgentOutput.Stream stream, byte[] octets) {
                    pass(octets, of(stream));
                }

                @Override
                public void end(AgentOutput.Stream stream) throws IOException {
                    of(stream).close();
                }

                private OutputStream of(AgentOutput.Stream stream) {
                    return stream == AgentOutput.Stream.STDOUT ? out : error;
                }
            });
        } catch (IOException _) {
            // The VM has ended or broke the protocol: there is no more output either way.
        } finally {
            ended.countDown();
        }
    }

    /// A closed output (`| head`) does not stop the agent.
    private static void pass(byte[] octets, OutputStream to) {
        try {
            to.write(octets);
            to.flush();
        } catch (IOException e) {
            return;
        }
    }

    private void send(InputStream in) {
        var chunk = new byte[32 << 10];
        try {
            for (int n = in.read(chunk); n > 0; n = in.read(chunk)) {
                frame(chunk, n);
            }
            frame(chunk, 0);
        } catch (IOException e) {
            return; // the agent or the VM has ended
        }
    }

    private void frame(byte[] octets, int length) throws IOException {
        ByteBuffer frame =
                ByteBuffer.allocate(AgentOutput.HEADER_BYTES + length).order(ByteOrder.LITTLE_ENDIAN);
        frame.put((byte) STDIN)
                .put(new byte[3])
                .putInt(length)
                .put(octets, 0, length)
                .flip();
        while (frame.hasRemaining()) {
            toGuest.write(frame);
        }
    }
}
