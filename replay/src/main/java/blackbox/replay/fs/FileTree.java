package blackbox.replay.fs;

import blackbox.schemas.row.Text;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A file system in an image, read only. Every method throws [DamagedTreeException] when the image
/// contradicts itself. Owned by one thread.
public interface FileTree extends AutoCloseable {
    /// Names by their octets, as `LC_ALL=C ls` sorts them.
    Comparator<Text> ORDER = (a, b) -> Arrays.compareUnsigned(a.toBytes(), b.toBytes());

    /// The folder at the top.
    Inode root() throws IOException;

    /// The inode of this number.
    Inode inode(long number) throws IOException;

    /// A folder's entries, names to inode numbers, without `.` and `..`.
    Map<Text, Long> list(Inode folder) throws IOException;

    /// The octets of a file; holes are zeros, and a [SparseInput] says where they are.
    InputStream open(Inode file) throws IOException;

    /// Where a symbolic link points to.
    Text target(Inode link) throws IOException;

    /// An extended attribute in the namespace `trusted`, or null.
    @Nullable
    Text trusted(Inode inode, String name) throws IOException;

    @Override
    void close() throws IOException;
}
