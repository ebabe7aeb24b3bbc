package blackbox.node.control;

import blackbox.recorder.RecorderException;
import blackbox.schemas.Progress;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/// Where the recorder of a run takes commands: a Unix socket in a folder that only its user can enter, which a link in
/// the run's folder leads to. It asks the kernel who is at the other end. Every ten seconds it sends itself a probe by
/// that way, and the record says what came of it.
public final class ControlServer implements AutoCloseable {

    private static final Duration PROBE_EVERY = Duration.ofSeconds(10);
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration ACCEPT_AGAIN = Duration.ofMillis(500);
    private static final int CALLERS_MAX = 8;
    private static final String SOCKET = "control";

    private final RunControl control;
    private final @Nullable ServerSocketChannel listener;
    private final Path link;
    private final Progress progress;
    private final Semaphore callers = new Semaphore(CALLERS_MAX);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final ScheduledExecutorService deadlines = Executors.newSingleThreadScheduledExecutor(
            task -> Thread.ofPlatform().daemon().name("control-deadlines").unstarted(task));
    private boolean saidUnreachable;

    private ControlServer(RunControl control, @Nullable ServerSocketChannel listener, Path link, Progress progress) {
        this.control = control;
        this.listener = listener;
        this.link = link;
        this.progress = progress;
    }

    /// Takes commands from now on, and has tried the way by the time this returns. Where it cannot, the run goes
    /// on, and its record says so.
    ///
    /// @param folder in which only this user can make files; its path is short
    /// @param link leads callers to the socket; its folder is there
    public static ControlServer start(RunControl control, Path folder, Path link, Progress progress) {
        ServerSocketChannel listener = null;
        try {
            listener = listen(folder.resolve(SOCKET), link);
        } catch (IOException e) {
            progress.say("no socket for commands could be made: " + e.getMessage());
        }
        var server = new ControlServer(control, listener, link, progress);
        if (listener != null) {
            ServerSocketChannel open = listener;
            Thread.ofPlatform().daemon().name("control").start(() -> server.accept(open));
        }
        server.probe();
        Thread.ofPlatform().daemon().name("control-probe").start(server::probeOften);
        return server;
    }

    private static ServerSocketChannel listen(Path socket, Path link) throws IOException {
        ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            listener.bind(UnixDomainSocketAddress.of(socket));
            Files.deleteIfExists(link);
            Files.createSymbolicLink(link, socket);
            return listener;
        } catch (IOException e) {
            listener.close();
            throw e;
        }
    }

    private void accept(ServerSocketChannel from) {
        try {
            while (closed.getCount() > 0) {
                callers.acquire();
                if (!acceptOne(from)) {
                    callers.release();
                    // There may be too many open files, and fewer in a while.
                    boolean _ = closed.await(ACCEPT_AGAIN.toMillis(), TimeUnit.MILLISECONDS);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean acceptOne(ServerSocketChannel from) {
        SocketChannel caller = null;
        try {
            SocketChannel accepted = from.accept();
            caller = accepted;
            Thread.ofPlatform().daemon().name("control-caller").start(() -> answer(accepted));
            return true;
        } catch (IOException | OutOfMemoryError e) {
            if (caller != null) {
                hangUp(caller);
            }
            return false;
        }
    }

    private void answer(SocketChannel caller) {
        boolean waits = true;
        try (caller) {
            String user =
                    caller.getOption(ExtendedSocketOptions.SO_PEERCRED).user().getName();
            ControlAnswer answer;
            try {
                String request = request(caller);
                // What it asks for may take its time; the others are heard meanwhile.
                waits = false;
                callers.release();
                answer = control.carryOut(ControlRequest.parse(request), user);
            } catch (IllegalArgumentException e) {
                answer = ControlAnswer.refused("the recorder does not understand this: " + e.getMessage());
            } catch (RecorderException e) {
                answer = ControlAnswer.refused("the record cannot say it: " + e.getMessage());
            }
            ByteBuffer line = ByteBuffer.wrap((answer.toJson() + "\n").getBytes(StandardCharsets.UTF_8));
            while (line.hasRemaining()) {
                caller.write(line);
            }
        } catch (IOException e) {
            return; // whoever asked has gone, or asks for nothing; what was done is in the record
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            if (waits) {
                callers.release();
            }
        }
    }

    /// A caller that says nothing holds one of few places, but not for long.
    private String request(SocketChannel caller) throws IOException {
        Future<?> deadline;
        try {
            deadline = deadlines.schedule(() -> hangUp(caller), REQUEST_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            throw new IOException("the run has ended", e);
        }
        try {
            return line(caller);
        } finally {
            deadline.cancel(false);
        }
    }

    static void hangUp(SocketChannel caller) {
        try {
            caller.close();
        } catch (IOException e) {
            return; // it is closed then, too
        }
    }

    /// The first line that comes.
    ///
    /// @throws IOException if there is none, or it is too long
    static String line(SocketChannel from) throws IOException {
        var text = new ByteArrayOutputStream();
        ByteBuffer some = ByteBuffer.allocate(1024);
        while (text.size() <= ControlRequest.LINE_OCTETS_MAX && from.read(some.clear()) >= 0) {
            for (some.flip(); some.hasRemaining(); ) {
                byte octet = some.get();
                if (octet == '\n') {
                    return text.toString(StandardCharsets.UTF_8);
                }
                text.write(octet);
            }
        }
        throw new IOException("there was no line");
    }

    private void probeOften() {
        try {
            while (!closed.await(PROBE_EVERY.toMillis(), TimeUnit.MILLISECONDS)) {
                probe();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void probe() {
        try {
            ControlClient.ask(link, ControlRequest.probe(), REQUEST_TIMEOUT.multipliedBy(2));
        } catch (IOException e) {
            if (closed.getCount() > 0) {
                unreachable(String.valueOf(e.getMessage()));
            }
        }
    }

    private void unreachable(String why) {
        if (!saidUnreachable) {
            saidUnreachable = true;
            progress.say("`blackbox pause` and `kill` do not reach this run: " + why);
        }
        try {
            control.unreachable(why);
        } catch (RecorderException e) {
            progress.say("the record cannot say that `blackbox pause` does not reach this run: " + e.getMessage());
        }
    }

    @Override
    public void close() {
        closed.countDown();
        control.close();
        deadlines.shutdownNow();
        try {
            if (listener != null) {
                listener.close();
            }
            Files.deleteIfExists(link);
        } catch (IOException e) {
            progress.say("the socket for commands is left behind: " + e.getMessage());
        }
    }
}
