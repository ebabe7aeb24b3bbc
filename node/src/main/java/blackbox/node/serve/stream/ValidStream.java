package blackbox.node.serve.stream;

import blackbox.node.access.ApiTokens;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/// Octets for whoever has a token: once it is revoked or has expired, no more are given.
public final class ValidStream extends FilterInputStream {
    private final ApiTokens tokens;
    private final String token;

    /// @param token its id
    public ValidStream(InputStream in, ApiTokens tokens, String token) {
        super(in);
        this.tokens = tokens;
        this.token = token;
    }

    private void check() throws IOException {
        if (!tokens.isValid(token)) {
            throw new IOException("its token is no longer valid");
        }
    }

    @Override
    public int read() throws IOException {
        int octet = super.read();
        check();
        return octet;
    }

    @Override
    public int read(byte[] octets, int offset, int length) throws IOException {
        int count = super.read(octets, offset, length);
        check();
        return count;
    }
}
