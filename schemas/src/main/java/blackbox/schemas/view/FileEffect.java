package blackbox.schemas.view;

import java.util.EnumSet;
import java.util.Set;

/// What an event did to the file at a path. Every reader takes it from [FileView]; the SQL view `files`
/// defines the same again, and a test keeps the two in agreement.
public enum FileEffect {
    /// A process had it open.
    OPENS,
    /// Content was read.
    READS,
    /// Content was written, or space for it allocated.
    WRITES,
    /// The name was created: by an open that created it, mkdir, mknod, symlink, link, or as the target of a
    /// rename.
    CREATES,
    /// The name was removed: unlink, rmdir.
    DELETES,
    /// The name was removed by renaming the file.
    RENAMES,
    /// Its length was set, by truncate(2) or by opening an existing file with O_TRUNC.
    TRUNCATES,
    /// Its mode, its owner, its times or another attribute was set.
    ATTRIBUTES,
    /// It was mapped shared and writable: what is written through the mapping is not seen.
    MAPS;

    private static final Set<FileEffect> CHANGES = EnumSet.of(WRITES, CREATES, DELETES, RENAMES, TRUNCATES, ATTRIBUTES);

    /// Whether it changed the file's content, name or attributes. What a mapping changes is not known.
    public boolean isChange() {
        return CHANGES.contains(this);
    }

    /// Whether it changed the file's content.
    public boolean isWrite() {
        return this == WRITES || this == TRUNCATES;
    }
}
