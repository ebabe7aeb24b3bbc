package blackbox.replay.fs;

/// A file's metadata, except its names.
///
/// @param number within its file system
/// @param permissions the lower twelve bits of its mode
/// @param links how many names it has, as its file system says
/// @param bytes its length
/// @param modifiedSeconds since 1970, in the years 0 to 9999
/// @param modifiedNanos below 10^9
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

    /// Times are told as RFC 3339, which has four digits for the year.
    private static final long SECONDS_MIN = -62_167_219_200L;
    private static final long SECONDS_MAX = 253_402_300_799L;

    static final int NANOS_MAX = 999_999_999;

    /// Returns a time in seconds since 1970 that an inode may have.
    ///
    /// @throws DamagedTreeException when it cannot be told
    static long requireTime(long seconds) throws DamagedTreeException {
        if (seconds < SECONDS_MIN || seconds > SECONDS_MAX) {
            throw new DamagedTreeException(
                    "a file was modified " + seconds + " seconds after 1970, outside of the years 0 to 9999");
        }
        return seconds;
    }

    /// Reads a device number as Linux writes it in 32 bits.
    static long device(long encoded) {
        long major = encoded >>> 8 & 0xfff;
        long minor = encoded & 0xff | encoded >>> 12 & 0xfff00;
        return major << 32 | minor;
    }
}
