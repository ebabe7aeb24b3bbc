package blackbox.replay.fs;

/// Counts the octets that are read to find the way in an image: folders, and the nodes that say where files are.
///
/// A kernel gives each of them blocks of its own, so that reading all of them costs no more than the image is long. A
/// guest can make an image in which many lead to the same blocks, and reading that would never end. The sum over
/// everything that is read through one tree is therefore bounded. Owned by one thread.
final class StructureReads {
    /// Each block a few times: a walk reads a file when it compares, digests and shows it.
    static final int TIMES_MAX = 16;

    static final long BYTES_MAX = 4L << 30;

    private final long bytesMax;
    private long bytes;

    /// @param imageBytes the image's length
    StructureReads(long imageBytes) {
        bytesMax = Math.min(BYTES_MAX, imageBytes * TIMES_MAX);
    }

    /// To be called before reading.
    ///
    /// @throws DamagedTreeException when this is more than an image of this length has
    void add(long more) throws DamagedTreeException {
        if (more > bytesMax - bytes) {
            throw new DamagedTreeException("finding the way in its folders and files takes reading more than "
                    + bytesMax + " octets, the most that is read for an image of this length");
        }
        bytes += more;
    }

    /// How many have been read.
    long bytes() {
        return bytes;
    }
}
