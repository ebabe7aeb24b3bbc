package blackbox.replay.cassette;

import java.io.IOException;
import java.io.InputStream;

/// A capture of frames: a pcap stream that can be read from its start and at any offset. Immutable.
public interface CapturedFrames {
    /// The capture from its start; the caller closes it.
    InputStream open() throws IOException;

    /// Octets of it, from `offset` on.
    ///
    /// @throws IOException also when it is shorter
    byte[] read(long offset, int length) throws IOException;
}
