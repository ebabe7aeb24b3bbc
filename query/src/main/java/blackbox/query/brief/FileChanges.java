package blackbox.query.brief;

import blackbox.query.brief.FileChange.Net;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.Counts;
import blackbox.schemas.view.FileEffect;
import blackbox.schemas.view.FileView;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Follows the files that are changed through the run, by their names. What the supervisor makes is there
/// before the agent begins. Owned by one thread.
final class FileChanges {

    /// Paths beyond this many are counted, not kept.
    private static final int PATHS_MAX = 1_000_000;

    private static final String WORKSPACE = "/workspace/";

    /// Whether a path named a file before the agent began.
    private enum Before {
        PRESENT,
        ABSENT,
        UNKNOWN
    }

    private static final class State {
        private Before before;
        private boolean exists = true;
        private boolean changed;
        private boolean folder;
        private long bytesWritten;

        @Nullable
        private String was;

        @Nullable
        private String by;

        State(Before before) {
            this.before = before;
        }

        /// Has another file at this path, which was elsewhere so far.
        void take(State file, @Nullable String was) {
            exists = file.exists;
            folder = file.folder;
            bytesWritten = file.bytesWritten;
            this.was = was;
        }
    }

    private final TreeMap<String, State> states = new TreeMap<>();
    private boolean supervisorSeen;
    private long unkept;

    /// Takes an act on a file.
    ///
    /// @param program that did it, null if that is not known
    void see(FileView file, @Nullable String program) {
        supervisorSeen |= file.isBySupervisor();
        switch (file) {
            case FileView.Rename rename -> {
                if (rename.failed()) {
                    return;
                }
                String from = name(rename.path());
                String to = name(rename.pathTo());
                if (rename.isExchange() && from != null && to != null) {
                    exchange(rename, from, to, program);
                } else {
                    move(rename, from, to, program);
                }
            }
            case FileView.Link link -> act(link, name(link.pathTo()), link.effectsThere(), program);
            case FileView other -> act(other, name(other.path()), other.effects(), program);
        }
    }

    private static @Nullable String name(@Nullable Text path) {
        return path == null || !FileView.isFile(path) ? null : path.toString();
    }

    private void act(FileView file, @Nullable String path, Set<FileEffect> effects, @Nullable String program) {
        boolean changes = effects.contains(FileEffect.MAPS) || effects.stream().anyMatch(FileEffect::isChange);
        if (path == null || !changes) {
            return;
        }
        boolean creates = effects.contains(FileEffect.CREATES);
        State state = state(path, creates ? Before.ABSENT : Before.PRESENT);
        if (state == null) {
            return;
        }
        state.exists = !effects.contains(FileEffect.DELETES);
        state.folder |= file instanceof FileView.Mkdir || file instanceof FileView.Rmdir;
        if (file.isBySupervisor()) {
            state.before = state.exists ? Before.PRESENT : Before.ABSENT;
            return;
        }
        state.changed = true;
        state.by = program;
        state.bytesWritten = Counts.sum(state.bytesWritten, file instanceof FileView.Io io ? io.bytesWritten() : 0);
    }

    private void move(FileView file, @Nullable String from, @Nullable String to, @Nullable String program) {
        if (from == null || to == null) {
            return;
        }
        State old = state(from, Before.PRESENT);
        if (old == null) {
            return;
        }
        var below = new ArrayList<>(below(from));
        moveOne(file, from, old, to, program);
        for (String each : below) {
            State inside = states.get(each);
            if (inside != null && inside.exists) {
                moveOne(file, each, inside, to + each.substring(from.length()), program);
            }
        }
    }

    private void moveOne(FileView file, String from, State old, String to, @Nullable String program) {
        State target = state(to, isKnownThroughout(to) ? Before.ABSENT : Before.UNKNOWN);
        if (target == null) {
            return;
        }
        old.exists = false;
        target.exists = true;
        target.folder = old.folder;
        if (file.isBySupervisor()) {
            target.before = Before.PRESENT;
            old.before = Before.ABSENT;
            return;
        }
        old.changed = true;
        old.by = program;
        target.changed = true;
        target.by = program;
        target.bytesWritten = Counts.sum(target.bytesWritten, old.bytesWritten);
        target.was = was(old, from);
    }

    /// Both are still there, each under the other's name, with what lies in them if they are folders.
    private void exchange(FileView file, String one, String other, @Nullable String program) {
        if (state(one, Before.PRESENT) == null || state(other, Before.PRESENT) == null) {
            return;
        }
        var rests = new TreeSet<String>();
        rests.add("");
        below(one).forEach(each -> rests.add(each.substring(one.length())));
        below(other).forEach(each -> rests.add(each.substring(other.length())));
        for (String rest : rests) {
            exchangeOne(file, one + rest, other + rest, program);
        }
    }

    private void exchangeOne(FileView file, String one, String other, @Nullable String program) {
        State here = stateOrNothing(one);
        State there = stateOrNothing(other);
        if (here == null || there == null || !here.exists && !there.exists) {
            return;
        }
        var kept = new State(here.before);
        kept.take(here, was(here, one));
        here.take(there, was(there, other));
        there.take(kept, kept.was);
        for (State each : List.of(here, there)) {
            if (file.isBySupervisor()) {
                each.before = each.exists ? Before.PRESENT : Before.ABSENT;
            } else {
                each.changed = true;
                each.by = program;
            }
        }
    }

    /// The state of a path at which nothing is if nothing was seen there.
    private @Nullable State stateOrNothing(String path) {
        boolean seen = states.containsKey(path);
        State state = state(path, isKnownThroughout(path) ? Before.ABSENT : Before.UNKNOWN);
        if (state != null && !seen) {
            state.exists = false;
        }
        return state;
    }

    private Set<String> below(String folder) {
        return states.subMap(folder + "/", folder + "0").keySet();
    }

    /// The name that the file at `path` had before the run.
    private static @Nullable String was(State file, String path) {
        return file.was != null ? file.was : file.before == Before.ABSENT ? null : path;
    }

    /// Whether every file was seen when it came there.
    private boolean isKnownThroughout(String path) {
        return supervisorSeen && path.startsWith(WORKSPACE);
    }

    private @Nullable State state(String path, Before before) {
        State state = states.get(path);
        if (state == null && states.size() >= PATHS_MAX) {
            unkept++;
            return null;
        }
        return state != null ? state : states.computeIfAbsent(path, _ -> new State(before));
    }

    /// The files that the agent changed, by name; folders are not among them.
    List<FileChange> changes() {
        var changes = new ArrayList<FileChange>();
        states.forEach((path, state) -> {
            if (state.changed && !state.folder) {
                changes.add(new FileChange(path, net(state), state.was, state.by, state.bytesWritten));
            }
        });
        return changes;
    }

    /// How many folders the agent made or removed.
    long folders() {
        return states.values().stream()
                .filter(state -> state.changed && state.folder)
                .count();
    }

    /// Acts on files that were not kept.
    long unkept() {
        return unkept;
    }

    private static Net net(State state) {
        return switch (state.before) {
            case PRESENT -> state.exists ? Net.MODIFIED : Net.DELETED;
            case ABSENT -> state.exists ? Net.ADDED : Net.TEMPORARY;
            case UNKNOWN -> state.exists ? Net.WRITTEN : Net.TEMPORARY;
        };
    }
}
