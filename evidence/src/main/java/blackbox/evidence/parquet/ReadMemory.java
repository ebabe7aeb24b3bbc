package blackbox.evidence.parquet;

import java.io.IOException;
import java.io.UncheckedIOException;

/// Counts the memory that reading one file takes, over all columns: a file of a few octets can say that it has a
/// thousand million values in each. Owned by one thread.
final class ReadMemory {

    /// A row group that ingest writes has leaves of at most 64 MiB, and 131,072 rows; reading it takes a
    /// fraction of this, whatever a guest put into the leaves.
    static final long BYTES_MAX = 512L << 20;

    private long bytes;

    /// To be called before more is allocated.
    ///
    /// @throws UncheckedIOException when it is more than a file may take: an operating failure, no verdict on it
    void add(long more) {
        bytes += more;
        if (bytes > BYTES_MAX) {
            throw new UncheckedIOException(new IOException("reading one of its row groups takes more than "
                    + (BYTES_MAX >> 20) + " MiB of memory, the most that is used for a data file"));
        }
    }
}
