package blackbox.schemas.view;

import blackbox.schemas.event.Protection;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Text;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// What was done to a file at a path. A call that failed had no effect.
public abstract sealed class FileView extends EventView {

    private static final Set<FileEffect> NONE = Set.of();
    private static final Set<FileEffect> OPENED = effects(FileEffect.OPENS);
    private static final Set<FileEffect> CREATED = effects(FileEffect.CREATES);
    private static final Set<FileEffect> DELETED = effects(FileEffect.DELETES);
    private static final Set<FileEffect> RENAMED = effects(FileEffect.RENAMES);
    private static final Set<FileEffect> WRITTEN = effects(FileEffect.WRITES);
    private static final Set<FileEffect> TRUNCATED = effects(FileEffect.TRUNCATES);
    private static final Set<FileEffect> ATTRIBUTES = effects(FileEffect.ATTRIBUTES);
    private static final Set<FileEffect> MAPPED = effects(FileEffect.MAPS);

    private static final FileEffect[] LEAVING = Stream.of(FileEffect.values())
            .filter(effect -> effect.isChange() || effect == FileEffect.MAPS)
            .toArray(FileEffect[]::new);

    private static final Pattern ELSEWHERE = Pattern.compile("[a-z0-9-]+\\[[0-9]+:[0-9]+\\]/");

    /// Permissions of the group and of others.
    private static final long OTHERS = 077;

    FileView() {}

    private static Set<FileEffect> effects(FileEffect first, FileEffect... more) {
        return Collections.unmodifiableSet(EnumSet.of(first, more));
    }

    /// The path as the kernel names it; as given by the caller if an open failed.
    public final @Nullable Text path() {
        return text(Column.PATH);
    }

    /// Whether a path is a file's: from the root, or from that of another file system (`tmpfs[0:45]/name`).
    /// Those of pipes, sockets and the like are not.
    public static boolean isFile(Text path) {
        return path.startsWith('/') || isFile(path.toString());
    }

    /// The same of a path as a string.
    public static boolean isFile(String path) {
        return path.startsWith("/") || ELSEWHERE.matcher(path).lookingAt();
    }

    /// Whether its mode gives nothing to the group and to others.
    public final boolean isClosedToOthers() {
        return has(Column.MODE) && (count(Column.MODE) & OTHERS) == 0;
    }

    /// What it did to the file at [#path].
    public final Set<FileEffect> effects() {
        return failed() && !(this instanceof Io) ? NONE : done();
    }

    abstract Set<FileEffect> done();

    /// Whether the file at [#path] may have changed with this event or may change from it on: it was changed,
    /// mapped shared and writable, or opened for writing.
    public final boolean mayChange() {
        return leavesSomething() || this instanceof Open open && !failed() && open.isForWriting();
    }

    /// Whether the file at [#path] was changed with this event, or mapped shared and writable.
    public final boolean leavesSomething() {
        Set<FileEffect> effects = effects();
        for (FileEffect effect : LEAVING) { // a stream would take a tenth of the time of an alignment
            if (effects.contains(effect)) {
                return true;
            }
        }
        return false;
    }

    /// An event that creates another name, which is in `path_to`.
    public abstract static sealed class ToName extends FileView {
        ToName() {}

        public final @Nullable Text pathTo() {
            return text(Column.PATH_TO);
        }

        /// What it did to the file at [#pathTo].
        public final Set<FileEffect> effectsThere() {
            return failed() ? NONE : doneThere();
        }

        Set<FileEffect> doneThere() {
            return CREATED;
        }
    }

    /// `file.open`.
    public static final class Open extends FileView {
        private static final Set<FileEffect> CREATED_OPENED = FileView.effects(FileEffect.OPENS, FileEffect.CREATES);
        private static final Set<FileEffect> EMPTIED = FileView.effects(FileEffect.OPENS, FileEffect.TRUNCATES);

        private static final int O_ACCMODE = 03;
        private static final int O_WRONLY = 01;
        private static final int O_RDWR = 02;
        private static final int O_CREAT = 0100;
        private static final int O_EXCL = 0200;
        private static final int O_TRUNC = 01000;
        private static final int O_PATH = 010000000;

        Open() {}

        /// open(2)'s flags.
        public long openFlags() {
            return count(Column.FLAGS);
        }

        /// Whether it created the file.
        public boolean created() {
            return count(Column.CREATED) == 1;
        }

        /// Whether it required that the file did not exist before (O_CREAT and O_EXCL).
        public boolean isExclusive() {
            return (openFlags() & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
        }

        /// Whether it was opened for reading.
        public boolean isForReading() {
            return !isPathOnly() && access() != O_WRONLY;
        }

        /// Whether it was opened for writing.
        public boolean isForWriting() {
            return !isPathOnly() && access() != 0;
        }

        /// Whether it was opened for both reading and writing.
        public boolean isForBoth() {
            return !isPathOnly() && access() == O_RDWR;
        }

        private long access() {
            return openFlags() & O_ACCMODE;
        }

        private boolean isPathOnly() {
            return (openFlags() & O_PATH) != 0;
        }

        @Override
        Set<FileEffect> done() {
            if (created()) {
                return CREATED_OPENED;
            }
            return (openFlags() & O_TRUNC) != 0 && !isPathOnly() ? EMPTIED : OPENED;
        }
    }

    /// `file.close`: the last reference was dropped, without reads or writes by this process.
    public static final class Close extends FileView {
        Close() {}

        @Override
        Set<FileEffect> done() {
            return OPENED;
        }
    }

    /// `file.io`: reads and writes of one process on one open file, folded.
    public static final class Io extends FileView {
        private static final Set<FileEffect> READ = FileView.effects(FileEffect.OPENS, FileEffect.READS);
        private static final Set<FileEffect> WROTE = FileView.effects(FileEffect.OPENS, FileEffect.WRITES);
        private static final Set<FileEffect> BOTH =
                FileView.effects(FileEffect.OPENS, FileEffect.READS, FileEffect.WRITES);

        Io() {}

        public long bytesRead() {
            return count(Column.BYTES_READ);
        }

        public long bytesWritten() {
            return count(Column.BYTES_WRITTEN);
        }

        /// Calls that read.
        public long reads() {
            return count(Column.READS);
        }

        /// Calls that wrote.
        public long writes() {
            return count(Column.WRITES);
        }

        @Override
        Set<FileEffect> done() {
            boolean read = reads() > 0 || bytesRead() > 0;
            boolean written = writes() > 0 || bytesWritten() > 0;
            if (read) {
                return written ? BOTH : READ;
            }
            return written ? WROTE : OPENED;
        }
    }

    /// `file.rename`.
    public static final class Rename extends ToName {
        private static final int RENAME_EXCHANGE = 2;

        Rename() {}

        /// Whether both files are still there, each under the other's name.
        public boolean isExchange() {
            return (count(Column.FLAGS) & RENAME_EXCHANGE) != 0;
        }

        @Override
        Set<FileEffect> done() {
            return isExchange() ? WRITTEN : RENAMED;
        }

        @Override
        Set<FileEffect> doneThere() {
            return isExchange() ? WRITTEN : CREATED;
        }
    }

    /// `file.link`: another name for the file at the path, which itself does not change.
    public static final class Link extends ToName {
        Link() {}

        @Override
        Set<FileEffect> done() {
            return NONE;
        }
    }

    /// `file.symlink`: the link's target is a text, which need not name a file.
    public static final class Symlink extends FileView {
        Symlink() {}

        @Override
        Set<FileEffect> done() {
            return CREATED;
        }
    }

    /// `file.unlink`.
    public static final class Unlink extends FileView {
        Unlink() {}

        @Override
        Set<FileEffect> done() {
            return DELETED;
        }
    }

    /// `file.rmdir`.
    public static final class Rmdir extends FileView {
        Rmdir() {}

        @Override
        Set<FileEffect> done() {
            return DELETED;
        }
    }

    /// `file.mkdir`.
    public static final class Mkdir extends FileView {
        Mkdir() {}

        @Override
        Set<FileEffect> done() {
            return CREATED;
        }
    }

    /// `file.mknod`.
    public static final class Mknod extends FileView {
        Mknod() {}

        @Override
        Set<FileEffect> done() {
            return CREATED;
        }
    }

    /// `file.chmod`.
    public static final class Chmod extends FileView {
        Chmod() {}

        @Override
        Set<FileEffect> done() {
            return ATTRIBUTES;
        }
    }

    /// `file.chown`.
    public static final class Chown extends FileView {
        Chown() {}

        @Override
        Set<FileEffect> done() {
            return ATTRIBUTES;
        }
    }

    /// `file.utime`.
    public static final class Utime extends FileView {
        Utime() {}

        @Override
        Set<FileEffect> done() {
            return ATTRIBUTES;
        }
    }

    /// `file.chattr`: attributes as of chattr(1) were set, FS_IMMUTABLE_FL and the like.
    public static final class Chattr extends FileView {
        Chattr() {}

        @Override
        Set<FileEffect> done() {
            return ATTRIBUTES;
        }
    }

    /// `file.xattr`: an extended attribute, whose name is in `what`.
    public static final class Xattr extends FileView {
        Xattr() {}

        @Override
        Set<FileEffect> done() {
            return ATTRIBUTES;
        }
    }

    /// `file.truncate`.
    public static final class Truncate extends FileView {
        Truncate() {}

        /// The length that was set, in octets.
        public @Nullable Long length() {
            return number(Column.FLAGS);
        }

        @Override
        Set<FileEffect> done() {
            return TRUNCATED;
        }
    }

    /// `file.allocate`: a range was given room or lost its content; which, is in `what`.
    public static final class Allocate extends FileView {
        Allocate() {}

        /// The end of the range, in octets from the file's start.
        public @Nullable Long end() {
            return number(Column.FLAGS);
        }

        @Override
        Set<FileEffect> done() {
            return WRITTEN;
        }
    }

    /// `file.mmap`: a shared writable mapping.
    public static final class Mmap extends FileView {
        Mmap() {}

        public @Nullable Protection protection() {
            return has(Column.FLAGS) ? new Protection(count(Column.FLAGS)) : null;
        }

        @Override
        Set<FileEffect> done() {
            return MAPPED;
        }
    }
}
