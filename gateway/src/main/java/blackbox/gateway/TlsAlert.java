package blackbox.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/// What a TLS client hears that has had no answer to its hello (RFC 8446 section 6). It is fatal, and in the clear.
enum TlsAlert {
    ACCESS_DENIED(49),
    BAD_CERTIFICATE(42),
    INTERNAL_ERROR(80),
    NO_APPLICATION_PROTOCOL(120);

    private final int code;

    TlsAlert(int code) {
        this.code = code;
    }

    ByteBuf record() {
        return Unpooled.wrappedBuffer(new byte[] {21, 3, 3, 0, 2, 2, (byte) code});
    }
}
