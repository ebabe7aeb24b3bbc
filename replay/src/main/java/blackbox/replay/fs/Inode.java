package blackbox.replay.fs;

/// A file's metadata, except its names.
///
/// @param number within its file system
/// @param permissions the lower twelve bits of its mode
/// @param links how many names it has, as its file system says
/// @param bytes its length
/// @param modifiedSeconds since 1970
/// @param device of a device: major times 2^32 plus minor; else 0
public record Inode(
        long number,
        FileType type,
        int permissions,
        long uid,
        long gid,
        long links,
        long bytes,
        long modifiedSeconds,
        int modifiedNanos,
        long device) {

    /// Reads a device number as Linux writes it in 32 bits.
    static long device(long encoded) {
        long major = encoded >>> 8 & 0xfff;
        long minor = encoded & 0xff | encoded >>> 12 & 0xfff00;
        return major << 32 | minor;
    }
}
