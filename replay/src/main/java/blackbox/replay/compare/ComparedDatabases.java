package blackbox.replay.compare;

import blackbox.replay.content.ContentMatch;
import blackbox.replay.content.Origins;
import blackbox.replay.files.ContentRule.Found;
import blackbox.replay.files.FilesAtEnd;
import blackbox.replay.sqlite.DatabaseMatch;
import blackbox.schemas.row.Text;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The SQLite databases among the files that two sides left. Owned by one thread.
final class ComparedDatabases {
    private static final int JOURNAL_HEADER_BYTES = 28;

    private final FilesAtEnd recorded;
    private final FilesAtEnd actual;
    private long same;

    /// @param recorded is not closed here, nor is the other
    ComparedDatabases(FilesAtEnd recorded, FilesAtEnd actual) {
        this.recorded = recorded;
        this.actual = actual;
    }

    /// Two files, as far as was read.
    ///
    /// @param difference where they differ as databases; null if they do not, or were not compared as such
    /// @param compared whether they were
    /// @param was the recorded one, at its start
    /// @param is the replay's, at its start
    record Looked(@Nullable Found difference, boolean compared, InputStream was, InputStream is) {}

    /// Compares two files that differ, if they are databases and nothing beside them says that they are not whole.
    ///
    /// @param tied is told which values stood for others
    Looked look(Text path, InputStream was, InputStream is, Origins origins, Consumer<ContentMatch> tied)
            throws IOException {
        byte[] begin = was.readNBytes(DatabaseMatch.MAGIC_BYTES);
        byte[] other = is.readNBytes(DatabaseMatch.MAGIC_BYTES);
        InputStream one = joined(begin, was);
        InputStream two = joined(other, is);
        if (!DatabaseMatch.mayBe(begin) || !DatabaseMatch.mayBe(other) || isUnfinished(path)) {
            return new Looked(null, false, one, two);
        }
        byte[] expected = one.readNBytes(DatabaseMatch.BYTES_MAX + 1);
        byte[] found = two.readNBytes(DatabaseMatch.BYTES_MAX + 1);
        InputStream all = joined(expected, was);
        InputStream allThere = joined(found, is);
        if (Math.max(expected.length, found.length) > DatabaseMatch.BYTES_MAX) {
            return new Looked(null, false, all, allThere);
        }
        return switch (DatabaseMatch.of(expected, found, origins, tied)) {
            case DatabaseMatch.Unknown _ -> new Looked(null, false, all, allThere);
            case DatabaseMatch.Same _ -> {
                same++;
                yield new Looked(null, true, all, allThere);
            }
            case DatabaseMatch.Different different -> {
                var where = "; first different: " + different.where() + ": ";
                int octet = Arrays.mismatch(expected, found);
                yield new Looked(
                        new Found(octet, where + different.expected(), where + different.actual()),
                        true,
                        all,
                        allThere);
            }
        };
    }

    private static InputStream joined(byte[] first, InputStream rest) {
        return new SequenceInputStream(new ByteArrayInputStream(first), rest);
    }

    /// Whether what a database says is not in its file alone, on either side, or the replay's is at another path.
    private boolean isUnfinished(Text path) throws IOException {
        try (InputStream there = actual.open(path)) {
            return there == null || isUnfinished(recorded, path) || isUnfinished(actual, path);
        }
    }

    /// A journal whose header was overwritten with zeros is over, and so is an empty log.
    private static boolean isUnfinished(FilesAtEnd files, Text path) throws IOException {
        try (InputStream journal = files.open(Text.of(path + "-journal"));
                InputStream log = files.open(Text.of(path + "-wal"))) {
            byte[] header = journal == null ? new byte[0] : journal.readNBytes(JOURNAL_HEADER_BYTES);
            return !Arrays.equals(header, new byte[header.length]) || log != null && log.read() >= 0;
        }
    }

    /// How many say the same and are laid out otherwise.
    long same() {
        return same;
    }
}
