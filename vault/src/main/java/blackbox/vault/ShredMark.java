package blackbox.vault;

import blackbox.files.AtomicFiles;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What is left in place of a run's payloads once they were shredded: `captures/<run>/shredded`, see
/// `schemas/payload.md`. It is a note to people and proves nothing.
///
/// @param at when, in seconds
/// @param reason one line, in words of whoever shredded them
public record ShredMark(RunId run, Instant at, String reason) {

    /// The file's name.
    public static final String NAME = "shredded";

    /// The longest reason, in characters.
    public static final int REASON_MAX = 500;

    private static final String FIRST = "blackbox/shredded/v1";
    private static final int OCTETS_MAX = 4_096;

    public ShredMark {
        if (reason.isBlank() || reason.length() > REASON_MAX || reason.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(
                    "the reason is one line of 1 to " + REASON_MAX + " characters without control characters");
        }
    }

    /// The mark in a run's folder of captures, or null.
    ///
    /// @throws IOException when there is one that cannot be read
    public static @Nullable ShredMark read(Path captures) throws IOException {
        Path file = captures.resolve(NAME);
        byte[] octets = AtomicFiles.onDisk().read(file, OCTETS_MAX);
        if (octets == null) {
            return null;
        }
        List<String> lines = new String(octets, StandardCharsets.UTF_8).lines().toList();
        try {
            if (lines.size() == 4 && lines.getFirst().equals(FIRST)) {
                return new ShredMark(
                        new RunId(value(lines.get(1), "run ")),
                        Instant.parse(value(lines.get(2), "at ")),
                        value(lines.get(3), "reason "));
            }
        } catch (IllegalArgumentException | DateTimeException e) {
            throw new IOException(file + " cannot be read: " + e.getMessage(), e);
        }
        throw new IOException(file + " is not a mark of this version");
    }

    private static String value(String line, String name) {
        if (!line.startsWith(name)) {
            throw new IllegalArgumentException("a line begins otherwise than '" + name + "'");
        }
        return line.substring(name.length());
    }

    /// Stores it, durably.
    void write(Path captures) throws IOException {
        String text = FIRST + "\nrun " + run + "\nat " + at + "\nreason " + reason + "\n";
        AtomicFiles.onDisk()
                .replace(
                        captures.resolve(NAME),
                        text.getBytes(StandardCharsets.UTF_8),
                        PosixFilePermissions.fromString("rw-------"));
    }

    /// For people: that, when and why.
    public String text() {
        return "what was stored beside the events of run " + run + " was shredded at " + at + ": " + reason
                + "; its events remain and can be verified";
    }
}
