package blackbox.node.control;

import blackbox.recorder.spool.RunLock;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Asks the recorder of a run for something.
public final class ControlClient {

    /// A pause may have to wait until what the guest had said is sealed.
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private ControlClient() {}

    /// Asks, and waits until it is done and sealed.
    ///
    /// @return null if no process of this data folder records the run
    /// @throws IOException if its recorder does not answer
    public static @Nullable ControlAnswer ask(DataFolder data, RunId run, ControlRequest request) throws IOException {
        if (!RunLock.isHeld(data, run)) {
            return null; // the link may lead to anybody then
        }
        try {
            return ask(data.control(run), request, PATIENCE);
        } catch (NoSuchFileException | ConnectException e) {
            return null; // a recorder that was killed leaves its socket
        }
    }

    static ControlAnswer ask(Path link, ControlRequest request, Duration patience) throws IOException {
        // The link may be longer than a socket's path can be.
        Path socket = Files.isSymbolicLink(link) ? Files.readSymbolicLink(link) : link;
        if (!Files.exists(socket, LinkOption.NOFOLLOW_LINKS)) {
            throw new NoSuchFileException(socket.toString());
        }
        var answered = new CountDownLatch(1);
        try (var channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            Thread.ofPlatform().daemon().name("control-deadline").start(() -> hangUp(channel, answered, patience));
            ByteBuffer line = ByteBuffer.wrap((request.toJson() + "\n").getBytes(StandardCharsets.UTF_8));
            while (line.hasRemaining()) {
                channel.write(line);
            }
            return ControlAnswer.parse(ControlServer.line(channel));
        } catch (IllegalArgumentException e) {
            throw new IOException("what the run's recorder answered is not an answer", e);
        } catch (AsynchronousCloseException e) {
            throw new IOException("nothing came within " + patience.toSeconds() + " s", e);
        } finally {
            answered.countDown();
        }
    }

    private static void hangUp(SocketChannel channel, CountDownLatch answered, Duration patience) {
        try {
            if (!answered.await(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                ControlServer.hangUp(channel);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
