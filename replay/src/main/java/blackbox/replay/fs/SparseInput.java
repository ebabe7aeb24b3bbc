package blackbox.replay.fs;

import java.io.InputStream;

/// A file's octets, of a file that may have holes: a hole may be 16 TiB long, which nobody reads octet for octet.
/// Skipping costs nothing.
public abstract class SparseInput extends InputStream {

    /// How many of the next octets are zeros because nothing is stored in their place; 0 at the file's end.
    public abstract long zerosAhead();
}
