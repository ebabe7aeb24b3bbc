package blackbox.vm.seek;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.function.Supplier;

/// The debugger's side of QEMU's gdb stub (GDB manual, appendix "Remote Serial Protocol"). Owned by one
/// thread. QEMU stops the machine when the connection is made.
///
/// In a replay a stop takes none of the guest's time: a machine that was stopped and stepped executes the
/// recording's instructions like one that was not.
public final class GdbStub implements AutoCloseable {
    private static final int REPLY_BYTES_MAX = 1 << 20;
    private static final int READ_BYTES_MAX = 1 << 16;
    /// Commands that do not run the machine are answered at once.
    private static final Duration ANSWER = Duration.ofSeconds(10);
    private static final Duration LOOK_EVERY = Duration.ofMillis(500);
    private static final HexFormat HEX = HexFormat.of();

    private final SocketChannel channel;
    private final Selector selector;
    private final Supplier<Patience> patience;
    private final ByteBuffer input = ByteBuffer.allocate(READ_BYTES_MAX).flip();

    private GdbStub(SocketChannel channel, Selector selector, Supplier<Patience> patience) {
        this.channel = channel;
        this.selector = selector;
        this.patience = patience;
    }

    /// Decides how long to wait. Called from time to time while there is no answer.
    @FunctionalInterface
    public interface Patience {
        /// @throws VmException `TIMEOUT` when waiting any longer is useless
        void look() throws VmException;

        /// Patience for a fixed time, from now on.
        static Patience of(Duration limit) {
            long deadline = System.nanoTime() + limit.toNanos();
            return () -> {
                if (System.nanoTime() >= deadline) {
                    throw new VmException(Code.TIMEOUT, "QEMU's gdb stub did not answer in time");
                }
            };
        }
    }

    /// What happened when a machine was allowed to run.
    public enum Stop {
        /// It is paused: at a breakpoint, after a step, or because the monitor stopped it.
        STOPPED,
        /// It has ended.
        ENDED
    }

    /// Connects.
    ///
    /// @param patience supplies the patience for each period that the machine runs
    /// @throws VmException `BUSY` when another debugger is connected: QEMU serves one at a time
    public static GdbStub connect(Path socket, Supplier<Patience> patience) throws VmException {
        try {
            var stub = new GdbStub(SocketChannel.open(UnixDomainSocketAddress.of(socket)), Selector.open(), patience);
            try {
                stub.channel.configureBlocking(false);
                stub.channel.register(stub.selector, SelectionKey.OP_READ);
                stub.greet();
                return stub;
            } catch (IOException | VmException e) {
                stub.close();
                throw e;
            }
        } catch (IOException e) {
            throw new VmException(Code.QEMU_FAILED, "QEMU's gdb socket " + socket + " could not be used", e);
        }
    }

    private void greet() throws IOException, VmException {
        try {
            exchange("qSupported:swbreak+;hwbreak+", Patience.of(ANSWER));
            acknowledge();
        } catch (VmException e) {
            throw e.code() == Code.TIMEOUT && !Thread.currentThread().isInterrupted()
                    ? new VmException(Code.BUSY, "another debugger is connected; end it first with `disconnect`", e)
                    : e;
        }
    }

    /// Sets a breakpoint: the machine stops before it executes the instruction at `address`.
    public void breakAt(long address) throws VmException {
        demand("Z1," + Long.toHexString(address) + ",1");
    }

    /// Removes the breakpoint.
    public void unbreak(long address) throws VmException {
        demand("z1," + Long.toHexString(address) + ",1");
    }

    /// Lets the machine run until it stops.
    public Stop resume() throws VmException {
        return go("c");
    }

    /// Executes one instruction, even one that has a breakpoint.
    public Stop step() throws VmException {
        return go("s");
    }

    /// The registers.
    public Registers registers() throws VmException {
        return Registers.of(octets(ask("g")));
    }

    /// Memory as the program that runs now sees it, at most 32 KiB.
    ///
    /// @throws VmException `GUEST_FAILED` when nothing is mapped there
    public byte[] memory(long address, int length) throws VmException {
        if (length < 1 || length > READ_BYTES_MAX / 2) {
            throw new IllegalArgumentException("length " + length);
        }
        String reply = ask("m" + Long.toHexString(address) + "," + Integer.toHexString(length));
        if (reply.startsWith("E")) {
            throw new VmException(
                    Code.GUEST_FAILED, "nothing is mapped at " + Long.toHexString(address) + " in this program");
        }
        return octets(reply);
    }

    @Override
    public void close() throws VmException {
        try {
            selector.close();
            channel.close();
        } catch (IOException e) {
            throw new VmException(Code.IO, "QEMU's gdb socket could not be closed", e);
        }
    }

    /// When QEMU ends, it may say so or just close the connection.
    private Stop go(String command) throws VmException {
        try {
            String reply = exchange(command, patience.get());
            return switch (reply.isEmpty() ? ' ' : reply.charAt(0)) {
                case 'T', 'S' -> {
                    acknowledge();
                    yield Stop.STOPPED;
                }
                case 'W', 'X' -> Stop.ENDED;
                default -> throw new VmException(Code.QEMU_FAILED, "QEMU's gdb stub answered '" + reply + "'");
            };
        } catch (ClosedByInterruptException e) {
            throw new VmException(Code.TIMEOUT, "interrupted while a replay ran", e);
        } catch (IOException _) {
            return Stop.ENDED;
        }
    }

    private void demand(String command) throws VmException {
        String reply = ask(command);
        if (!reply.equals("OK")) {
            throw new VmException(Code.QEMU_FAILED, "QEMU's gdb stub answered '" + reply + "' to " + command);
        }
    }

    private String ask(String command) throws VmException {
        try {
            String reply = exchange(command, Patience.of(ANSWER));
            acknowledge();
            return reply;
        } catch (IOException e) {
            throw new VmException(Code.QEMU_FAILED, "QEMU ended while its gdb stub was used", e);
        }
    }

    private String exchange(String command, Patience patience) throws IOException, VmException {
        write("$" + command + "#" + checksum(command));
        return read(patience);
    }

    /// QEMU's stub requires acknowledgements.
    private void acknowledge() throws IOException {
        write("+");
    }

    private void write(String text) throws IOException {
        ByteBuffer octets = ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1));
        while (octets.hasRemaining()) {
            channel.write(octets);
        }
    }

    private String read(Patience patience) throws IOException, VmException {
        while (next(patience) != '$') {
            // Acknowledgements are between packets.
        }
        var reply = new StringBuilder();
        for (char octet = next(patience); octet != '#'; octet = next(patience)) {
            if (reply.length() == REPLY_BYTES_MAX) {
                throw new VmException(Code.QEMU_FAILED, "QEMU's gdb stub gave an answer without an end");
            }
            reply.append(octet);
        }
        String sum = "" + next(patience) + next(patience);
        if (!sum.equals(checksum(reply.toString()))) {
            throw new VmException(Code.QEMU_FAILED, "QEMU's gdb stub gave an answer with a wrong checksum");
        }
        return reply.toString();
    }

    private char next(Patience patience) throws IOException, VmException {
        while (!input.hasRemaining()) {
            int ready = selector.select(LOOK_EVERY.toMillis());
            if (Thread.currentThread().isInterrupted()) {
                throw new VmException(Code.TIMEOUT, "interrupted while waiting for QEMU's gdb stub");
            }
            if (ready == 0) {
                patience.look();
                continue;
            }
            selector.selectedKeys().clear();
            int count = channel.read(input.clear());
            input.flip();
            if (count < 0) {
                throw new IOException("end of the connection");
            }
        }
        return (char) (input.get() & 0xff);
    }

    private static String checksum(String text) {
        int sum = text.chars().sum();
        return HEX.toHexDigits((byte) sum);
    }

    private static byte[] octets(String reply) throws VmException {
        try {
            return HEX.parseHex(reply);
        } catch (IllegalArgumentException e) {
            throw new VmException(Code.QEMU_FAILED, "QEMU's gdb stub answered '" + reply + "'", e);
        }
    }
}
