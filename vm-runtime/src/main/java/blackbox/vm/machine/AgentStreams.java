package blackbox.vm.machine;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// The agent's standard streams over the stdio port. Frames of {u8 stream, 3 zero octets, u32le length,
/// octets} in both directions; length 0 ends a stream. Two threads, one a direction; what is not taken is
/// not read.
final class AgentStreams {
    private static final int HEADER_BYTES = 8;
    private static final int FRAME_BYTES_MAX = 256 << 10;
    private static final int STDIN = 0;
    private static final int STDOUT = 1;
    private static final int STDERR = 2;

    private final InputStream fromGuest;
    private final WritableByteChannel toGuest;
    private final CountDownLatch ended = new CountDownLatch(2);

    AgentStreams(InputStream fromGuest, WritableByteChannel toGuest) {
        this.fromGuest = fromGuest;
        this.toGuest = toGuest;
    }

    /// Starts to copy. `in` is read until its end or the agent's, on a thread that may stay in a read for
    /// ever.
    void start(InputStream in, OutputStream out, OutputStream error) {
        Thread.ofPlatform().daemon().name("agent-output").start(() -> receive(out, error));
        Thread.ofPlatform().daemon().name("agent-input").start(() -> send(in));
    }

    /// Waits until the agent's output has all been passed on.
    ///
    /// @throws VmException `TIMEOUT`
    void awaitEnd(Duration timeout) throws VmException {
        try {
            if (!ended.await(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new VmException(Code.TIMEOUT, "the agent's output did not end; somebody does not read it");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "interrupted while waiting for the agent's output", e);
        }
    }

    private void receive(OutputStream out, OutputStream error) {
        try (var from = new DataInputStream(fromGuest)) {
            var header = new byte[HEADER_BYTES];
            while (ended.getCount() > 0) {
                from.readFully(header);
                int length =
                        ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getInt(4);
                int stream = header[0];
                if (length < 0 || length > FRAME_BYTES_MAX || stream != STDOUT && stream != STDERR) {
                    throw new IOException("a frame of stream " + stream + " with " + length + " octets");
                }
                OutputStream to = stream == STDOUT ? out : error;
                if (length == 0) {
                    ended.countDown();
                } else {
                    pass(from.readNBytes(length), to);
                }
            }
        } catch (IOException e) {
            // The VM has ended or talks nonsense: there is no more output either way.
            ended.countDown();
            ended.countDown();
        }
    }

    /// Somebody who closed our output (`| head`) does not stop the agent.
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
        ByteBuffer frame = ByteBuffer.allocate(HEADER_BYTES + length).order(ByteOrder.LITTLE_ENDIAN);
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
