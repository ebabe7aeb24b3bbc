package blackbox.evidence.trust;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.trust.KeyStatement.Role;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The keys of one log of runs, according to its own key statements: fed with these in the log's order, it
/// says which keys are valid at which index of that log. Owned by one thread.
///
/// It fails closed: no key is valid unless one of the log's own keys is trusted, and none after a statement
/// that does not hold. A key that was replaced, was revoked or has expired signs nothing that comes later;
/// what was logged before stays valid.
public final class KeyHistory {

    private final Set<String> trusted = new HashSet<>();
    private final List<Span> spans = new ArrayList<>();
    private @Nullable Span current;
    private boolean anchored;
    private @Nullable String origin;
    private Instant latest = Instant.EPOCH;
    private @Nullable String fault;
    private long lastIndex = -1;

    /// A key and where it may sign: leaves `[fromIndex, endIndex)` of the log and checkpoints over as many
    /// leaves.
    private static final class Span {
        final Role role;
        final NoteVerifier key;
        final long fromIndex;
        long endIndex = Long.MAX_VALUE;
        final Instant from;
        final @Nullable Instant until;

        Span(KeyStatement statement, long fromIndex) {
            this.role = statement.role();
            this.key = statement.key();
            this.fromIndex = fromIndex;
            this.from = statement.validFrom();
            this.until = statement.validUntil();
        }

        boolean at(Instant time) {
            return !time.isBefore(from) && (until == null || time.isBefore(until));
        }
    }

    /// @param trusted the keys that are trusted initially; one that was ever the log's own vouches for the
    ///     others, because each rotation is signed by both keys
    public KeyHistory(Collection<? extends NoteVerifier> trusted) {
        trusted.forEach(key -> this.trusted.add(key.encoded()));
    }

    /// Takes the log's next key statement.
    ///
    /// @param index the leaf's index, above those of the statements before
    /// @return what is wrong with it, after which nothing from that index on is accepted; or null
    public @Nullable String add(long index, SignedNote note) {
        if (index <= lastIndex) {
            throw new IllegalArgumentException("key statements come in the log's order");
        }
        lastIndex = index;
        if (fault == null) {
            KeyStatement statement = KeyStatement.parse(note.text());
            fault = statement == null ? "it is not a key statement of a known version" : take(index, statement, note);
            if (fault != null) {
                spans.forEach(span -> end(span, index - 1));
            }
        }
        return fault;
    }

    private @Nullable String take(long index, KeyStatement statement, SignedNote note) {
        if ((index == 0) != (statement.action() == KeyStatement.Action.BEGIN)) {
            return "a log must begin with the statement that names its first key";
        }
        String known = origin;
        if (known != null && !known.equals(statement.origin())) {
            return "it speaks of another log, " + statement.origin();
        }
        if (statement.validFrom().isBefore(latest)) {
            return "its time is earlier than that of the statement before it";
        }
        if (!isSigned(statement, note)) {
            return "it is not signed by the required keys";
        }
        latest = statement.validFrom();
        origin = statement.origin();
        return apply(index, statement);
    }

    private boolean isSigned(KeyStatement statement, SignedNote note) {
        boolean byItself = note.signedBy(List.of(statement.key())) != null;
        Span now = current;
        boolean byCurrent = now != null && now.at(statement.validFrom()) && note.signedBy(List.of(now.key)) != null;
        return switch (statement.action()) {
            case BEGIN -> byItself;
            case ROTATE -> byItself && byCurrent;
            case CERTIFY, REVOKE -> byCurrent;
        };
    }

    private @Nullable String apply(long index, KeyStatement statement) {
        switch (statement.action()) {
            case BEGIN -> begin(new Span(statement, 0));
            case ROTATE -> {
                if (find(statement) != null) {
                    return "a key that the log had before cannot return";
                }
                spans.stream().filter(span -> span == current).forEach(span -> end(span, index));
                begin(new Span(statement, index + 1));
            }
            case CERTIFY -> spans.add(new Span(statement, index + 1));
            case REVOKE -> {
                Span revoked = find(statement);
                if (revoked == null) {
                    return "it revokes a key that the log never named";
                }
                spans.stream().filter(span -> isOf(span, statement)).forEach(span -> end(span, index));
                current = revoked == current ? null : current;
            }
        }
        return null;
    }

    private void begin(Span span) {
        spans.add(span);
        current = span;
        anchored |= trusted.contains(span.key.encoded());
    }

    /// Its last leaf is the one at `index`.
    private static void end(Span span, long index) {
        span.endIndex = Math.min(span.endIndex, index + 1);
    }

    private @Nullable Span find(KeyStatement statement) {
        return spans.stream().filter(span -> isOf(span, statement)).findFirst().orElse(null);
    }

    private static boolean isOf(Span span, KeyStatement statement) {
        return span.role == statement.role()
                && span.key.encoded().equals(statement.key().encoded());
    }

    /// Whether one of the log's own keys is among those that are trusted.
    public boolean isTrusted() {
        return anchored;
    }

    /// The log's name, or null before its first statement.
    public @Nullable String origin() {
        return origin;
    }

    /// When the log began, according to its first statement; the end of time if there is none yet.
    public Instant begunAt() {
        return spans.isEmpty() ? Instant.MAX : spans.getFirst().from;
    }

    /// The time of the last statement.
    public Instant latest() {
        return latest;
    }

    /// The key that signs the log now, or null.
    public @Nullable NoteVerifier currentLogKey() {
        Span now = current;
        return now == null || fault != null ? null : now.key;
    }

    /// The keys that are valid for the leaf at `index` (or the log's checkpoint over `index` leaves) at the
    /// time stated in what they signed.
    public List<NoteVerifier> believed(Role role, long index, Instant at) {
        return keys(span -> span.role == role && span.fromIndex <= index && index < span.endIndex && span.at(at));
    }

    /// The same for what states no time.
    public List<NoteVerifier> believed(Role role, long index) {
        return keys(span -> span.role == role && span.fromIndex <= index && index < span.endIndex);
    }

    /// The keys whose seals on data files count: the log names them and has not revoked them. A seal has no place in
    /// the log, so one by a revoked key could have been made at any time.
    public List<NoteVerifier> sealers() {
        return keys(span -> span.role == Role.INGEST && !isRevokedSealer(span.key));
    }

    /// Whether the log says that the key seals nothing anymore, even if it was certified again.
    public boolean isRevokedSealer(NoteVerifier key) {
        return spans.stream()
                .anyMatch(span -> span.role == Role.INGEST
                        && span.endIndex != Long.MAX_VALUE
                        && span.key.encoded().equals(key.encoded()));
    }

    /// The keys that the log itself names for the leaf at `index` at that time, whether or not one of its keys is
    /// trusted: that may show only further on, where the trusted key is one that came later. For callers that ask
    /// [#isTrusted] at the log's end, and believe nothing if it is false.
    public List<NoteVerifier> named(Role role, long index, Instant at) {
        return stream(span -> span.role == role && span.fromIndex <= index && index < span.endIndex && span.at(at));
    }

    private List<NoteVerifier> keys(Predicate<Span> wanted) {
        return anchored ? stream(wanted) : List.of();
    }

    private List<NoteVerifier> stream(Predicate<Span> wanted) {
        return spans.stream().filter(wanted).map(span -> span.key).toList();
    }
}
