package blackbox.replay.divergence.cause;

import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventLookup;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.replay.divergence.strand.Lineage;
import blackbox.replay.divergence.strand.Strand;
import blackbox.replay.divergence.strand.Token;
import blackbox.replay.divergence.strand.TokenSink;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.replay.divergence.text.KnownNames;
import blackbox.schemas.view.EventViews;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The order in which one side's strands accessed what they share: files, and the ends of a process's children.
/// Two logs show where concurrent threads or processes took a different order. That threads of a process took
/// turns differently shows nothing as long as they did not access the same thing.
///
/// Memory: the last [#ACCESSES_MAX] accesses of the last [#SUBJECTS_MAX] subjects. Owned by one thread.
final class AccessLog {

    private static final int SUBJECTS_MAX = 16_384;
    private static final int ACCESSES_MAX = 32;

    /// What is shared.
    enum Shared {
        FILE,
        CHILDREN,
        /// The memory of a process, by its threads.
        MEMORY
    }

    private record Access(long strand, long process, long parent, Token token) {
        boolean isSame(Access other) {
            return strand == other.strand && token.canon() == other.token.canon();
        }
    }

    /// Two accesses that have a different order on the two sides; the tokens are the recorded side's, in its
    /// order.
    record Race(Shared shared, Token first, Token second) {

        /// The race in words.
        ///
        /// @param events of the recorded side
        String inWords(EventLookup events) throws IOException {
            EventLookup.Facts one = events.facts(first.index());
            EventLookup.Facts other = events.facts(second.index());
            String both = (one == null ? "?" : one.line()) + " / " + (other == null ? "?" : other.line());
            return switch (shared) {
                case FILE ->
                    "two concurrent processes or threads accessed the same file in the opposite order: " + both;
                case CHILDREN -> "processes that ran side by side ended in the opposite order: " + both;
                case MEMORY ->
                    "likely threads of one process, which share its memory and took turns in another order: " + both;
            };
        }
    }

    private final KeyedHash hash;
    private final long until;
    private final Map<Long, List<Access>> subjects = new LinkedHashMap<>(64, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, List<Access>> eldest) {
            return size() > SUBJECTS_MAX;
        }
    };

    private final Map<Long, Shared> sorts = new HashMap<>();

    private AccessLog(KeyedHash hash, long until) {
        this.hash = hash;
        this.until = until;
    }

    /// The accesses before the event at `until`.
    static AccessLog read(KeyedHash hash, KnownNames known, EventSource source, long until) throws IOException {
        var log = new AccessLog(hash, until);
        var lineage = new Lineage(hash, known, new TokenSink() {
            @Override
            public void accept(Strand strand, Token token) {
                log.see(strand, token);
            }

            @Override
            public void ended(Strand strand) {}
        });
        var views = new EventViews();
        try (EventCursor cursor = source.open(0)) {
            while (cursor.next() && cursor.index() <= until) {
                lineage.add(views.of(cursor.row()), cursor.index());
            }
        }
        lineage.finish();
        return log;
    }

    private void see(Strand strand, Token token) {
        if (token.index() >= until || strand.process() == 0) {
            return;
        }
        var access = new Access(strand.key(), strand.process(), strand.parent(), token);
        if (token.subject() != 0) {
            add(token.subject(), Shared.FILE, access);
        }
        if (strand.sort() == Strand.Sort.THREAD) {
            add(hash.mix(strand.process(), 23), Shared.MEMORY, access);
        }
        if (token.sort() == Token.Sort.PROCESS_END) {
            add(hash.mix(strand.parent(), 22), Shared.CHILDREN, access);
        }
    }

    private void add(long subject, Shared shared, Access access) {
        List<Access> accesses = subjects.computeIfAbsent(subject, _ -> new ArrayList<>());
        if (accesses.size() >= ACCESSES_MAX) {
            accesses.removeFirst();
        }
        accesses.add(access);
        if (sorts.size() > 2 * SUBJECTS_MAX) {
            sorts.clear();
        }
        sorts.put(subject, shared);
    }

    /// The first race for a file, between the process's own threads, its children, or it and its siblings, or else
    /// the first between the ends of its children; null if there is none.
    @Nullable
    Race race(AccessLog other, long process, long parent) {
        Race first = null;
        for (Map.Entry<Long, List<Access>> subject : subjects.entrySet()) {
            List<Access> theirs = other.subjects.get(subject.getKey());
            Shared shared = sorts.getOrDefault(subject.getKey(), Shared.FILE);
            if (theirs == null || shared == Shared.MEMORY || !isShared(subject.getValue(), shared)) {
                continue;
            }
            Race race = race(subject.getValue(), theirs, shared, new Near(process, parent));
            if (race != null && (first == null || isClearer(race, first))) {
                first = race;
            }
        }
        return first;
    }

    /// The first race of these kinds, whoever they were; null if there is none.
    @Nullable
    Race anyRace(AccessLog other, Set<Shared> kinds) {
        Race first = null;
        for (Map.Entry<Long, List<Access>> subject : subjects.entrySet()) {
            Shared shared = sorts.getOrDefault(subject.getKey(), Shared.FILE);
            List<Access> theirs = other.subjects.get(subject.getKey());
            Race race = theirs == null || !kinds.contains(shared) || !isShared(subject.getValue(), shared)
                    ? null
                    : race(subject.getValue(), theirs, shared, null);
            first = race != null
                            && (first == null
                                    || race.first().index() < first.first().index())
                    ? race
                    : first;
        }
        return first;
    }

    /// The race for the file that the event at an index of this side is about; null if there is none.
    @Nullable
    Race raceAt(AccessLog other, long index) {
        for (Map.Entry<Long, List<Access>> subject : subjects.entrySet()) {
            List<Access> theirs = other.subjects.get(subject.getKey());
            boolean there = sorts.get(subject.getKey()) == Shared.FILE
                    && subject.getValue().stream()
                            .anyMatch(access -> access.token().index() == index);
            if (there && theirs != null && isShared(subject.getValue(), Shared.FILE)) {
                return race(subject.getValue(), theirs, Shared.FILE, null);
            }
        }
        return null;
    }

    /// Whose races count: a process and what its parent started.
    private record Near(long process, long parent) {
        boolean is(Access access) {
            return access.process() == process || access.parent() == process || access.parent() == parent;
        }
    }

    private static boolean isClearer(Race race, Race than) {
        int sort = race.shared().compareTo(than.shared());
        return sort < 0 || sort == 0 && race.first().index() < than.first().index();
    }

    private static boolean isShared(List<Access> accesses, Shared shared) {
        var strands = new HashSet<Long>();
        boolean written = shared != Shared.FILE;
        for (Access access : accesses) {
            strands.add(access.strand());
            written |= access.token().writes();
        }
        return written && strands.size() > 1;
    }

    private static @Nullable Race race(List<Access> recorded, List<Access> actual, Shared shared, @Nullable Near who) {
        List<Access> mine = common(recorded, actual);
        List<Access> theirs = common(actual, recorded);
        for (int i = 0; i < Math.min(mine.size(), theirs.size()); i++) {
            Access expected = mine.get(i);
            Access came = theirs.get(i);
            if (expected.isSame(came)) {
                continue;
            }
            boolean conflict = shared != Shared.FILE
                    || expected.token().writes()
                    || came.token().writes();
            boolean near = who == null
                    || (shared == Shared.CHILDREN
                            ? expected.parent() == who.process() && came.parent() == who.process()
                            : who.is(expected) || who.is(came));
            Access second =
                    mine.stream().filter(each -> each.isSame(came)).findFirst().orElse(expected);
            return expected.strand() != came.strand() && conflict && near
                    ? new Race(shared, expected.token(), second.token())
                    : null;
        }
        return null;
    }

    /// The accesses that the other side has, too, in order.
    private static List<Access> common(List<Access> some, List<Access> others) {
        var left = new ArrayList<>(others);
        var common = new ArrayList<Access>();
        var sorted = new ArrayList<>(some);
        sorted.sort(Comparator.comparingLong(access -> access.token().index()));
        for (Access access : sorted) {
            for (int i = 0; i < left.size(); i++) {
                if (left.get(i).isSame(access)) {
                    left.remove(i);
                    common.add(access);
                    break;
                }
            }
        }
        return common;
    }
}
