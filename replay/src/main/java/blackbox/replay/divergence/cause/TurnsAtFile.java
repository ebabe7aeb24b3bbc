package blackbox.replay.divergence.cause;

import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventLookup;
import blackbox.replay.divergence.strand.Lineage;
import blackbox.replay.divergence.strand.Strand;
import blackbox.replay.divergence.strand.Token;
import blackbox.replay.divergence.strand.TokenSink;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.replay.divergence.text.KnownNames;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.FileView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// In which order the processes of one side that ran side by side changed a file, however much each wrote at once: who
/// came first may decide what the file holds. Owned by one thread.
///
/// Memory: the first [#TURNS_MAX] turns.
final class TurnsAtFile {
    static final int TURNS_MAX = 4_096;
    private static final int PROCESSES_MAX = 1 << 16;
    private static final int ANCESTORS_MAX = 4_096;

    private final Side side;
    private final List<Turn> turns = new ArrayList<>();
    private final Map<Long, Life> lives = new HashMap<>();

    /// A process changed the file, and none did meanwhile.
    private record Turn(long process, long index) {}

    /// From which event to which a process is in the record.
    private record Life(long parent, long from, long to) {
        Life with(long index) {
            return new Life(parent, Math.min(from, index), Math.max(to, index));
        }
    }

    private TurnsAtFile(Side side) {
        this.side = side;
    }

    /// Reads all events once.
    static TurnsAtFile of(KeyedHash hash, Side side, String path) throws IOException {
        var found = new TurnsAtFile(side);
        Set<String> paths = besides(path);
        var changes = new HashSet<Long>();
        var lineage = new Lineage(hash, KnownNames.NOTHING, new TokenSink() {
            @Override
            public void accept(Strand strand, Token token) {
                found.see(strand, token, changes.remove(token.index()));
            }

            @Override
            public void ended(Strand strand) {}
        });
        var views = new EventViews();
        try (EventCursor cursor = side.events().open(0)) {
            while (cursor.next()) {
                EventView event = views.of(cursor.row());
                if (changes(event, paths) && changes.size() < TURNS_MAX) {
                    changes.add(cursor.index());
                }
                lineage.add(event, cursor.index());
            }
        }
        lineage.finish();
        found.inTurn();
        return found;
    }

    /// The file, and what SQLite keeps beside a database: with these, a transaction begins and ends.
    private static Set<String> besides(String path) {
        return Set.of(path, path + "-journal", path + "-wal");
    }

    private static boolean changes(EventView event, Set<String> paths) {
        return event instanceof FileView file
                && file.mayChange()
                && !file.failed()
                && (is(file.path(), paths) || file instanceof FileView.ToName named && is(named.pathTo(), paths));
    }

    private static boolean is(@Nullable Text path, Set<String> paths) {
        return path != null && paths.contains(path.toString());
    }

    private void see(Strand strand, Token token, boolean change) {
        long process = strand.process();
        if (process == 0) {
            return;
        }
        if (lives.containsKey(process) || lives.size() < PROCESSES_MAX) {
            lives.merge(
                    process,
                    new Life(strand.parent(), token.index(), token.index()),
                    (life, _) -> life.with(token.index()));
        }
        if (change && turns.size() < TURNS_MAX) {
            turns.add(new Turn(process, token.index()));
        }
    }

    /// Tokens of a process come once it is known what it runs.
    private void inTurn() {
        turns.sort(Comparator.comparingLong(Turn::index));
        for (int i = turns.size() - 1; i > 0; i--) {
            if (turns.get(i).process() == turns.get(i - 1).process()) {
                turns.remove(i);
            }
        }
    }

    /// The first two changes, by processes that ran side by side on both sides, that came in another order in `other`;
    /// in words, or null if there are none.
    @Nullable
    String raceWith(TurnsAtFile other, String path) throws IOException {
        for (int i = 0; i < Math.min(turns.size(), other.turns.size()); i++) {
            Turn here = turns.get(i);
            Turn there = other.turns.get(i);
            if (here.process() == there.process()) {
                continue;
            }
            Turn later = next(i, there.process());
            Turn laterThere = other.next(i, here.process());
            if (later == null
                    || laterThere == null
                    || !areBeside(here.process(), there.process())
                    || !other.areBeside(here.process(), there.process())) {
                return null;
            }
            return "two programs raced for " + path + ": " + inWords(here, later) + "; "
                    + other.inWords(there, laterThere);
        }
        return null;
    }

    private @Nullable Turn next(int after, long process) {
        return turns.stream()
                .skip(after)
                .filter(turn -> turn.process() == process)
                .findFirst()
                .orElse(null);
    }

    private boolean areBeside(long one, long other) {
        Life mine = lives.get(one);
        Life theirs = lives.get(other);
        return mine != null
                && theirs != null
                && mine.from() < theirs.to()
                && theirs.from() < mine.to()
                && !isAbove(one, other)
                && !isAbove(other, one);
    }

    private boolean isAbove(long above, long below) {
        Life each = lives.get(below);
        for (int i = 0; each != null && i < ANCESTORS_MAX; i++) {
            if (each.parent() == above) {
                return true;
            }
            each = lives.get(each.parent());
        }
        return false;
    }

    private String inWords(Turn first, Turn second) throws IOException {
        var events = new EventLookup(side.asRecorded());
        return "in " + side.name() + " " + line(events, first) + ", then " + line(events, second);
    }

    private static String line(EventLookup events, Turn turn) throws IOException {
        EventLookup.Facts facts = events.facts(turn.index());
        return facts == null ? "?" : facts.line();
    }
}
