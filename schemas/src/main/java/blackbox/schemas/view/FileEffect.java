package blackbox.schemas.view;

import java.util.EnumSet;
import java.util.Set;

/// What an event did to the file at a path. Every reader takes it from [FileView]; SQL's view `files` says the same in
/// its own words, and a test holds the two together.
public enum FileEffect {
    /// It was open in a process.
    OPENS,
    /// Content was read.
    READS,
    /// Content was written or set aside.
    WRITES,
    /// The name came to be: by an open that made it, mkdir, mknod, symlink, link, or as what a rename led to.
    CREATES,
    /// The name is gone: unlink, rmdir.
    DELETES,
    /// The name is gone, for another one.
    RENAMES,
    /// Its length was set, by truncate(2) or by opening a file that was there with O_TRUNC.
    TRUNCATES,
    /// Its mode or its owner was set.
    ATTRIBUTES,
    /// It was mapped for shared writing: what is written through the mapping is not seen.
    MAPS;

    private static final Set<FileEffect> CHANGES = EnumSet.of(WRITES, CREATES, DELETES, RENAMES, TRUNCATES, ATTRIBUTES);

    /// Whether the file is another one after it, in content, name or attributes. What a mapping changes is not known.
    public boolean isChange() {
        return CHANGES.contains(this);
    }

    /// Whether the file's content is another one after it.
    public boolean isWrite() {
        return this == WRITES || this == TRUNCATES;
    }
}
