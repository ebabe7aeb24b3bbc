package blackbox.vm.qmp;

import blackbox.vm.Json;
import blackbox.vm.LineReader;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import com.fasterxml.jackson.databind.JsonNode;
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
import java.util.function.Consumer;

/// One connection to QEMU's monitor. Commands are sent one at a time, from any thread; events are given to the listener
/// on this client's reader thread, in the order in which QEMU sent them, and must not block it.
public final class QmpClient implements AutoCloseable {
    private static final int LINE_BYTES_MAX = 4 << 20;
    private static final int REPLIES_MAX = 16;
    private static final JsonNode END = Json.object();

    private final SocketChannel channel;
    private final BlockingQueue<JsonNode> replies = new ArrayBlockingQueue<>(REPLIES_MAX);
    private final Consumer<QmpEvent> listener;
    private final Thread reader = Thread.ofPlatform().daemon().name("qmp").unstarted(this::read);
    private long lastId;

    private QmpClient(SocketChannel channel, Consumer<QmpEvent> listener) {
        this.channel = channel;
        this.listener = listener;
    }

    /// Takes over a connected channel, reads QEMU's greeting and leaves negotiation mode.
    public static QmpClient over(SocketChannel channel, Consumer<QmpEvent> listener, Duration timeout)
            throws VmException {
        var client = new QmpClient(channel, listener);
        client.reader.start();
        client.execute("qmp_capabilities", Json.object(), timeout);
        return client;
    }

    /// Executes a command and returns its result.
    ///
    /// @throws VmException `QEMU_FAILED` when QEMU refuses it or has ended, `TIMEOUT`
    public synchronized JsonNode execute(String command, ObjectNode arguments, Duration timeout) throws VmException {
        long id = ++lastId;
        ObjectNode request = Json.object().put("execute", command).put("id", id);
        request.set("arguments", arguments);
        try {
            ByteBuffer line = ByteBuffer.wrap((Json.line(request) + "\n").getBytes(StandardCharsets.UTF_8));
            while (line.hasRemaining()) {
                channel.write(line);
            }
            long deadline = System.nanoTime() + timeout.toNanos();
            while (true) {
                JsonNode reply = replies.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                if (reply == null) {
                    throw new VmException(
                            Code.TIMEOUT, "QEMU did not answer '" + command + "' within " + timeout.toMillis() + " ms");
                }
                if (reply.isEmpty()) {
                    replies.add(END);
                    throw new VmException(Code.QEMU_FAILED, "QEMU ended before it answered '" + command + "'");
                }
                if (reply.path("id").asLong() == id) {
                    return answer(command, reply);
                }
            }
        } catch (IOException e) {
            throw new VmException(Code.QEMU_FAILED, "QEMU ended before it took '" + command + "'", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "interrupted while QEMU executed '" + command + "'", e);
        }
    }

    /// Executes a command without arguments.
    public JsonNode execute(String command, Duration timeout) throws VmException {
        return execute(command, Json.object(), timeout);
    }

    /// Waits until the listener has been given everything that QEMU sent. QEMU must have ended: closing the connection
    /// earlier would cut off the events that it sent last, its shutdown among them.
    ///
    /// @return false if the listener is still busy after `timeout`
    public boolean awaitLast(Duration timeout) throws InterruptedException {
        return reader.join(timeout);
    }

    @Override
    public void close() throws VmException {
        try {
            channel.close();
        } catch (IOException e) {
            throw new VmException(Code.IO, "QEMU's monitor could not be closed", e);
        }
    }

    private static JsonNode answer(String command, JsonNode reply) throws VmException {
        if (reply.has("error")) {
            throw new VmException(
                    Code.QEMU_FAILED,
                    "QEMU refused '" + command + "': "
                            + reply.path("error").path("desc").asText());
        }
        return reply.path("return");
    }

    private void read() {
        var lines = new LineReader(Channels.newInputStream(channel), LINE_BYTES_MAX);
        try {
            for (String line = lines.next(); line != null; line = lines.next()) {
                JsonNode message = Json.parse(line);
                if (message.has("event")) {
                    listener.accept(event(message));
                } else if (message.has("id")) {
                    replies.add(message);
                }
            }
        } catch (IOException | IllegalStateException e) {
            // The connection is unusable: closed by us, cut by QEMU's end, or not JSON. All of this is
            // handled below.
            listener.accept(new QmpEvent("DISCONNECTED", Json.object(), 0));
        }
        replies.offer(END);
    }

    private static QmpEvent event(JsonNode message) {
        JsonNode at = message.path("timestamp");
        long micros = at.path("seconds").asLong() * 1_000_000
                + at.path("microseconds").asLong();
        return new QmpEvent(message.path("event").asText(), message.path("data"), micros);
    }
}
