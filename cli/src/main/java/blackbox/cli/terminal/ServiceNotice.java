package blackbox.cli.terminal;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Tells what started this process, where it asked for that, how the process is: systemd's protocol of sd_notify(3),
/// one datagram to the socket that `NOTIFY_SOCKET` names.
public final class ServiceNotice {
    private static final String SOCKET = "NOTIFY_SOCKET";
    /// Of `sun_path` in unix(7).
    private static final int PATH_BYTES_MAX = 108;

    private static final int AF_UNIX = 1;
    private static final int SOCK_DGRAM = 2;
    private static final int SOCK_CLOEXEC = 0x80000;
    private static final int MSG_NOSIGNAL = 0x4000;

    private final @Nullable String socket;
    private final Consumer<String> trouble;

    /// @param socket its path, or for an abstract one `@` and its name; null where nobody asked
    /// @param trouble is told what could not be told the manager
    ServiceNotice(@Nullable String socket, Consumer<String> trouble) {
        this.socket = socket;
        this.trouble = trouble;
    }

    public static ServiceNotice ofEnvironment(Consumer<String> trouble) {
        return new ServiceNotice(System.getenv(SOCKET), trouble);
    }

    /// The service answers.
    public void ready() {
        tell("READY=1");
    }

    /// The service was asked to end, and closes what it has open.
    public void stopping() {
        tell("STOPPING=1");
    }

    private void tell(String state) {
        try {
            send(state);
        } catch (IOException e) {
            trouble.accept("the service manager was not told " + state + ": " + e.getMessage());
        }
    }

    private void send(String state) throws IOException {
        if (socket == null || socket.isEmpty()) {
            return;
        }
        byte[] path = socket.getBytes(StandardCharsets.UTF_8);
        if (path.length > PATH_BYTES_MAX || path[0] != '/' && path[0] != '@') {
            throw new IOException(SOCKET + " names no socket of this machine's: " + socket);
        }
        if (path[0] == '@') {
            path[0] = 0;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(Calls.ERRNO);
            MemorySegment address = arena.allocate(Short.BYTES + path.length);
            address.set(ValueLayout.JAVA_SHORT_UNALIGNED, 0, (short) AF_UNIX);
            MemorySegment.copy(path, 0, address, ValueLayout.JAVA_BYTE, Short.BYTES, path.length);
            byte[] octets = state.getBytes(StandardCharsets.UTF_8);
            MemorySegment message = arena.allocateFrom(ValueLayout.JAVA_BYTE, octets);
            send(errno, address, message);
        }
    }

    private static void send(MemorySegment errno, MemorySegment address, MemorySegment message) throws IOException {
        try {
            int fd = (int) Calls.SOCKET.invokeExact(errno, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
            if (fd < 0) {
                throw failed(errno);
            }
            long sent = (long) Calls.SENDTO.invokeExact(
                    errno, fd, message, message.byteSize(), MSG_NOSIGNAL, address, (int) address.byteSize());
            IOException refused = sent == message.byteSize() ? null : failed(errno);
            int closed = (int) Calls.CLOSE.invokeExact(errno, fd);
            if (refused != null) {
                throw refused;
            }
            if (closed != 0) {
                throw failed(errno);
            }
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("sendto(2) cannot be called", e);
        }
    }

    private static IOException failed(MemorySegment errno) {
        return new IOException("error " + errno.get(ValueLayout.JAVA_INT, 0) + " at its socket");
    }

    /// Loaded only where a manager asked.
    private static final class Calls {
        private static final Linker LINKER = Linker.nativeLinker();
        private static final MemoryLayout ERRNO = Linker.Option.captureStateLayout();

        private static final MethodHandle SOCKET =
                call("socket", ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
        private static final MethodHandle SENDTO = call(
                "sendto",
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT,
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT,
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_INT);
        private static final MethodHandle CLOSE = call("close", ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);

        @SuppressWarnings("restricted") // the signatures are those of socket(2), sendto(2) and close(2)
        private static MethodHandle call(String name, MemoryLayout result, MemoryLayout... arguments) {
            return LINKER.downcallHandle(
                    LINKER.defaultLookup().findOrThrow(name),
                    FunctionDescriptor.of(result, arguments),
                    Linker.Option.captureCallState("errno"));
        }
    }
}
