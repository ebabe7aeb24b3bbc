package blackbox.replay.files;

import blackbox.replay.ReplayException;
import blackbox.schemas.row.Text;
import java.io.IOException;
import java.util.List;

/// How the files that a replay left compare with those that the run left: by path, type, mode, owner, extended
/// attributes, device, length, target and content.
///
/// Not compared: times, the numbers of inodes, how many names a file has, the attributes of `chattr`, and the notes
/// of the overlay on where a file came from. Neither is what the image has beneath. A folder that only one side has
/// counts as one difference, with all that is in it.
///
/// @param files how many names both have, of folders and deleted files too
/// @param octets how many the files have whose contents were compared, with their holes
/// @param pairs names that stood for other names
/// @param count how many differences there are
/// @param times when files that both have were modified
/// @param differences the first of them, by path: folder by folder, each before what is in it, and names by octets
public record FilesMatch(
        long files, long octets, Pairs pairs, FileTimes times, long count, List<FileDifference> differences) {
    /// How many differences are shown.
    public static final int SHOWN_MAX = 20;

    public FilesMatch {
        differences = List.copyOf(differences);
        if (differences.size() != Math.min(SHOWN_MAX, count)) {
            throw new IllegalArgumentException(differences.size() + " of " + count + " differences");
        }
    }

    /// Names that stood for other names.
    ///
    /// @param first of them, at most [#SHOWN_MAX]
    public record Pairs(long count, List<Pair> first) {
        /// How many are shown.
        public static final int SHOWN_MAX = 3;

        public Pairs {
            first = List.copyOf(first);
        }
    }

    /// Two paths from the guest's root, of which one stood for the other.
    public record Pair(Text recorded, Text actual) {}

    /// Compares, with contents octet for octet.
    ///
    /// @throws ReplayException `ENGINE` when a tree contradicts itself, or is too deep or too large to be compared
    /// @throws IOException when an image cannot be read
    public static FilesMatch of(FilesAtEnd recorded, FilesAtEnd actual, Names names)
            throws ReplayException, IOException {
        return of(recorded, actual, names, ContentRule.STRICT);
    }

    /// Compares. Memory depends on the largest folders along one path, not on the number of files.
    ///
    /// @param names asked about names that only one side has in a folder
    /// @param rule asked about contents that are not the same octet for octet; they may be of different lengths
    /// @throws ReplayException `ENGINE` when a tree contradicts itself, or is too deep or too large to be compared
    /// @throws IOException when an image cannot be read
    public static FilesMatch of(FilesAtEnd recorded, FilesAtEnd actual, Names names, ContentRule rule)
            throws ReplayException, IOException {
        var walk = new TreeWalk(recorded, actual, names, rule);
        return walk.run();
    }

    /// Whether nothing differs.
    public boolean isSame() {
        return count == 0;
    }
}
