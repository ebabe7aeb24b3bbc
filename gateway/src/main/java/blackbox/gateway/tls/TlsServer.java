package blackbox.gateway.tls;

import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;

/// The server's side of one TLS connection without a socket: whoever has it carries the octets. Computes where it is
/// called. Owned by one thread.
public final class TlsServer {
    private final SSLEngine engine;
    private final ByteBuffer plain;
    private final ByteBuffer sealed;
    private ByteBuffer in = ByteBuffer.allocate(0);
    private boolean opened;

    private TlsServer(SSLEngine engine) {
        this.engine = engine;
        this.plain = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize());
        this.sealed = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
    }

    /// With a certificate that `authority` signs, as the gateway has it.
    ///
    /// @param name a host name in lower case, or an address without brackets
    public static TlsServer of(RunAuthority authority, String name) {
        SSLEngine engine = authority.server(name, ClientHello.HTTP_1_1).newEngine(UnpooledByteBufAllocator.DEFAULT);
        return new TlsServer(engine);
    }

    /// Whether the handshake is over, so that [#seal] may be called.
    public boolean isOpened() {
        return opened;
    }

    /// Whether the client has said that it sends no more.
    public boolean isFinished() {
        return engine.isInboundDone();
    }

    /// Takes octets that the client sent.
    ///
    /// @param said receives what they say, in pieces
    /// @return what the client is to be sent for them, which may be nothing
    /// @throws SSLException if they are no TLS, or say that the client gives up; [#alert] has what is left to send
    public byte[] take(byte[] octets, Consumer<byte[]> said) throws SSLException {
        if (engine.isInboundDone()) {
            return new byte[0]; // what comes after the end says nothing
        }
        var rest = ByteBuffer.allocate(in.remaining() + octets.length);
        in = rest.put(in).put(octets).flip();
        var out = new ByteArrayOutputStream();
        while (true) {
            switch (engine.getHandshakeStatus()) {
                case NEED_TASK -> runTasks();
                case NEED_WRAP -> {
                    if (wrap(ByteBuffer.allocate(0), out).getStatus() == SSLEngineResult.Status.CLOSED) {
                        return out.toByteArray();
                    }
                }
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN, NOT_HANDSHAKING, FINISHED -> {
                    if (!unwrap(said)) {
                        return out.toByteArray();
                    }
                }
            }
        }
    }

    private void runTasks() {
        for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
            task.run();
        }
    }

    /// Whether there may be more.
    private boolean unwrap(Consumer<byte[]> said) throws SSLException {
        if (engine.isInboundDone()) {
            return false;
        }
        SSLEngineResult result = engine.unwrap(in, plain.clear());
        opened |= result.getHandshakeStatus() == HandshakeStatus.FINISHED;
        if (plain.flip().hasRemaining()) {
            var octets = new byte[plain.remaining()];
            plain.get(octets);
            said.accept(octets);
        }
        return switch (result.getStatus()) {
            case OK -> result.bytesConsumed() > 0 || engine.getHandshakeStatus() != HandshakeStatus.NOT_HANDSHAKING;
            case CLOSED -> engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP;
            case BUFFER_UNDERFLOW -> false;
            case BUFFER_OVERFLOW -> throw new IllegalStateException("a record is longer than its protocol allows");
        };
    }

    private SSLEngineResult wrap(ByteBuffer from, ByteArrayOutputStream out) throws SSLException {
        SSLEngineResult result = engine.wrap(from, sealed.clear());
        opened |= result.getHandshakeStatus() == HandshakeStatus.FINISHED;
        out.write(sealed.array(), 0, sealed.position());
        return result;
    }

    /// What the client is sent to be told these octets.
    ///
    /// @throws SSLException if the connection was closed
    public byte[] seal(byte[] octets) throws SSLException {
        var out = new ByteArrayOutputStream();
        for (ByteBuffer left = ByteBuffer.wrap(octets); left.hasRemaining(); ) {
            if (wrap(left, out).getStatus() == SSLEngineResult.Status.CLOSED) {
                throw new SSLException("the connection was closed");
            }
        }
        return out.toByteArray();
    }

    /// What the client is sent at the end.
    public byte[] close() {
        engine.closeOutbound();
        return alert();
    }

    /// What the client is still to be sent after a failure; empty if nothing.
    public byte[] alert() {
        var out = new ByteArrayOutputStream();
        try {
            while (!engine.isOutboundDone()) {
                if (wrap(ByteBuffer.allocate(0), out).bytesProduced() == 0) {
                    break;
                }
            }
        } catch (SSLException e) {
            return out.toByteArray(); // it cannot be said
        }
        return out.toByteArray();
    }
}
