package blackbox.gateway.http;

import blackbox.gateway.egress.HttpExchange.Body;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// Length and SHA-256 of a body that passes by.
final class BodyDigest {
    private final MessageDigest digest;
    private long octets;

    BodyDigest() {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }

    void add(ByteBuf data) {
        octets += data.readableBytes();
        for (ByteBuffer part : data.nioBuffers()) {
            digest.update(part);
        }
    }

    /// Of all that passed; no more may pass.
    Body body() {
        return new Body(octets, HexFormat.of().formatHex(digest.digest()));
    }
}
