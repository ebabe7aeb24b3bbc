package blackbox.vault;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/// A payload that is not encrypted: its run is not closed, or it was recorded before payloads were encrypted.
///
/// @param file open for reading
record PlainPayload(FileChannel file) implements OpenPayload {

    @Override
    public long size() throws IOException {
        return file.size();
    }

    @Override
    public int read(ByteBuffer into, long at) throws IOException {
        return file.read(into, at);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
