package blackbox.vault;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/// A payload that is open for reading, from any place. Safe to use from several threads.
public sealed interface OpenPayload extends Closeable permits PlainPayload, EncryptedPayload {

    /// How many octets it holds, by the file's length: only reading them shows whether they are genuine.
    long size() throws IOException;

    /// Reads at least one octet from `at` on, if `into` has room.
    ///
    /// @return how many, or -1 at its end
    /// @throws VaultException `ALTERED`, or `CUT` instead of its end
    int read(ByteBuffer into, long at) throws IOException;

    /// Its octets from the first to the last; closing the stream closes this.
    default InputStream stream() {
        return new PayloadStream(this);
    }
}
