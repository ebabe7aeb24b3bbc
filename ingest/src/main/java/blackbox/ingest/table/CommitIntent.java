package blackbox.ingest.table;

import blackbox.files.AtomicFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a commit is about to do to the store, noted in the staging folder before it does it. After a crash it
/// distinguishes ingest's own leftovers from files that another engine took out of the catalog: only the former may go.
///
/// @param added keys of data files that are stored before the catalog names them
/// @param replaced keys of data files whose rows are in the added ones
record CommitIntent(List<String> added, List<String> replaced) {

    private static final String NAME = "intent";
    private static final String VERSION_LINE = "blackbox/intent/v1";
    private static final String ADDED = "+ ";
    private static final String REPLACED = "- ";

    CommitIntent {
        added = List.copyOf(added);
        replaced = List.copyOf(replaced);
    }

    /// Notes it durably, in place of the one before.
    void write(Path staging) throws IOException {
        var text = new StringBuilder(VERSION_LINE).append('\n');
        added.forEach(key -> text.append(ADDED).append(key).append('\n'));
        replaced.forEach(key -> text.append(REPLACED).append(key).append('\n'));
        AtomicFiles.onDisk().replace(staging.resolve(NAME), text.toString().getBytes(StandardCharsets.UTF_8));
    }

    /// The note of a commit that was not completed; an empty one if there is none.
    ///
    /// @throws IOException when it cannot be read, or a later version wrote it
    static CommitIntent read(Path staging) throws IOException {
        Path file = staging.resolve(NAME);
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (NoSuchFileException e) {
            return new CommitIntent(List.of(), List.of());
        }
        if (lines.isEmpty() || !lines.getFirst().equals(VERSION_LINE)) {
            throw new IOException(file + " is not a commit's intent in a known version");
        }
        var added = new ArrayList<String>();
        var replaced = new ArrayList<String>();
        for (String line : lines.subList(1, lines.size())) {
            String key = line.substring(Math.min(line.length(), ADDED.length()));
            if (line.startsWith(ADDED)) {
                added.add(key);
            } else if (line.startsWith(REPLACED)) {
                replaced.add(key);
            } else {
                throw new IOException(file + " has a line that is none of a commit's intent: " + line);
            }
        }
        return new CommitIntent(added, replaced);
    }

    /// When the note was written, before its commit; null if there is none.
    static @Nullable Instant writtenAt(Path staging) throws IOException {
        try {
            return Files.getLastModifiedTime(staging.resolve(NAME)).toInstant();
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /// The commit is complete. If the note survives a power cut all the same, it only says again what was done.
    static void remove(Path staging) throws IOException {
        Files.deleteIfExists(staging.resolve(NAME));
    }
}
