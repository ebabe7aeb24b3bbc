package blackbox.evidence.trust;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.sign.NoteVerifiers;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// Something that the log of runs says about one key: the text of a signed note that is a leaf of that log.
/// What follows from the statements is [KeyHistory]'s business; see `schemas/trust.md`.
///
/// @param origin of the log of runs, which is the name of its keys
/// @param key the key that it is about
/// @param validFrom from when the key signs; for a revocation, when it was revoked
/// @param validUntil until when the key signs (exclusive), or null for no end
public record KeyStatement(
        Action action,
        String origin,
        NoteVerifier key,
        Role role,
        Instant validFrom,
        @Nullable Instant validUntil) {

    private static final String VERSION_LINE = "blackbox/key/v1";
    private static final String NO_END = "-";
    private static final int LINES = 7;

    /// What happens to the key.
    public enum Action {
        /// The log begins, and this is its key; signed by itself.
        BEGIN("begin"),
        /// The log's key is replaced by this one; signed by both.
        ROTATE("rotate"),
        /// The log's key vouches for another one.
        CERTIFY("certify"),
        /// Nothing that the key signs is accepted from here on.
        REVOKE("revoke");

        private final String word;

        Action(String word) {
            this.word = word;
        }

        private static @Nullable Action of(String word) {
            for (Action action : values()) {
                if (action.word.equals(word)) {
                    return action;
                }
            }
            return null;
        }
    }

    /// What a key is for.
    public enum Role {
        /// Signs the log of runs, its statements, and run key certificates.
        LOG("log"),
        /// Seals data files.
        INGEST("ingest");

        private final String word;

        Role(String word) {
            this.word = word;
        }

        private static @Nullable Role of(String word) {
            for (Role role : values()) {
                if (role.word.equals(word)) {
                    return role;
                }
            }
            return null;
        }
    }

    public KeyStatement {
        boolean ends = validUntil != null && !validUntil.isAfter(validFrom);
        boolean logsOwn = action == Action.BEGIN || action == Action.ROTATE;
        if (origin.isEmpty() || origin.indexOf('\n') >= 0 || ends) {
            throw new IllegalArgumentException("a key statement names a log and a time that ends after it begins");
        }
        if (role == Role.LOG && !key.name().equals(origin) || logsOwn && role != Role.LOG) {
            throw new IllegalArgumentException("a log's own key is named as the log and has the role log");
        }
        if (action == Action.CERTIFY && role == Role.LOG || action == Action.REVOKE && validUntil != null) {
            throw new IllegalArgumentException("a log's key is not certified by itself, and a revocation has no end");
        }
        NoteTime.require(validFrom);
        if (validUntil != null) {
            NoteTime.require(validUntil);
        }
    }

    /// The text that is signed, ending in a newline.
    public String text() {
        String until = validUntil == null ? NO_END : NoteTime.text(validUntil);
        return String.join(
                        "\n",
                        VERSION_LINE,
                        action.word,
                        origin,
                        key.encoded(),
                        role.word,
                        NoteTime.text(validFrom),
                        until)
                + "\n";
    }

    /// Whether a note's text says that it is such a statement, of whatever version.
    public static boolean isOne(String text) {
        return text.startsWith("blackbox/key/");
    }

    /// Reads a signed note's text; null where it is not exactly a version 1 statement.
    public static @Nullable KeyStatement parse(String text) {
        String[] lines = text.split("\n", -1);
        if (lines.length != LINES + 1) {
            return null;
        }
        Action action = Action.of(lines[1]);
        Role role = Role.of(lines[4]);
        Instant from = NoteTime.parse(lines[5]);
        Instant until = lines[6].equals(NO_END) ? null : NoteTime.parse(lines[6]);
        if (action == null || role == null || from == null) {
            return null;
        }
        try {
            var statement = new KeyStatement(action, lines[2], NoteVerifiers.parse(lines[3]), role, from, until);
            return statement.text().equals(text) ? statement : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
