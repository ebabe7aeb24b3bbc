package blackbox.vm.process;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.Tier;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// The sockets between this process and one QEMU. We listen and QEMU connects while it starts, so that no byte is
/// lost before somebody reads it and nobody has to poll for a socket to appear.
public final class MachineSockets implements AutoCloseable {
    /// Each has a socket. The order is that of the devices on QEMU's command line.
    public enum Port {
        CONTROL,
        EVENTS,
        STDIO,
        QMP,
        /// Ethernet frames, each preceded by its length; only if the network is a peer.
        NET;

        /// The ports that are QEMU's character devices, in the order of its command line.
        static final List<Port> CHARACTER_DEVICES = List.of(CONTROL, EVENTS, STDIO, QMP);

        /// The ports of a machine of this tier on this network. The exact tier's bulk data goes to files.
        public static Set<Port> of(Tier tier, Network network) {
            Set<Port> ports = tier == Tier.EXACT ? EnumSet.of(CONTROL, QMP) : EnumSet.copyOf(CHARACTER_DEVICES);
            if (network.isHeld()) {
                ports.add(NET);
            }
            return ports;
        }

        String file() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final Map<Port, ServerSocketChannel> listeners = new EnumMap<>(Port.class);
    private final Map<Port, SocketChannel> connections = new EnumMap<>(Port.class);

    /// Listens in `folder`, which only this user may enter.
    MachineSockets(Path folder, Set<Port> ports) throws VmException {
        try {
            for (Port port : ports) {
                listeners.put(port, listen(folder.resolve(port.file())));
            }
        } catch (IOException e) {
            close();
            throw new VmException(Code.IO, "no socket could be made in " + folder, e);
        }
    }

    static ServerSocketChannel listen(Path path) throws IOException {
        return ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(path));
    }

    /// Waits until QEMU has connected all of them, or `process` has ended.
    void accept(Process process, Duration timeout) throws VmException {
        long deadline = System.nanoTime() + timeout.toNanos();
        for (var each : listeners.entrySet()) {
            SocketChannel channel = accept(each.getValue(), process, Duration.ofNanos(deadline - System.nanoTime()));
            connections.put(each.getKey(), channel);
        }
        closeListeners();
    }

    static SocketChannel accept(ServerSocketChannel listener, Process process, Duration timeout) throws VmException {
        var accepted = CompletableFuture.supplyAsync(
                () -> await(listener), task -> Thread.ofPlatform().daemon().start(task));
        try {
            CompletableFuture.anyOf(accepted, process.onExit()).get(timeout.toMillis(), TimeUnit.MILLISECONDS);
            if (accepted.isDone()) {
                return accepted.get();
            }
            throw new VmException(Code.QEMU_FAILED, "QEMU ended with " + process.exitValue() + " while it started");
        } catch (TimeoutException e) {
            throw new VmException(Code.TIMEOUT, "QEMU did not connect within " + timeout.toMillis() + " ms", e);
        } catch (ExecutionException e) {
            throw new VmException(Code.IO, "a socket to QEMU failed", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "interrupted while QEMU started", e);
        }
    }

    private static SocketChannel await(ServerSocketChannel listener) {
        try {
            return listener.accept();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    public SocketChannel channel(Port port) {
        SocketChannel channel = connections.get(port);
        if (channel == null) {
            throw new IllegalStateException(port + " is not connected");
        }
        return channel;
    }

    @Override
    public void close() throws VmException {
        closeListeners();
        for (SocketChannel channel : connections.values()) {
            try {
                channel.close();
            } catch (IOException e) {
                throw new VmException(Code.IO, "a socket could not be closed", e);
            }
        }
    }

    private void closeListeners() throws VmException {
        for (ServerSocketChannel listener : listeners.values()) {
            try {
                listener.close();
            } catch (IOException e) {
                throw new VmException(Code.IO, "a socket could not be closed", e);
            }
        }
        listeners.clear();
    }
}
