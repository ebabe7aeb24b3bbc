package blackbox.query.brief;

import blackbox.query.brief.FileChange.Net;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.FileEffect;
import blackbox.schemas.view.FileView;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Follows the files that are changed through the run, by their names. What the supervisor makes is there before the
/// agent begins. Owned by one thread.
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
                    // By a name that no file has.
                    String aside = from + "\0";
                    move(rename, from, aside, program);
                    move(rename, to, from, program);
                    move(rename, aside, to, program);
                    states.remove(aside);
                    states.subMap(aside + "/", aside + "0").clear();
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
        state.bytesWritten += file instanceof FileView.Io io ? io.bytesWritten() : 0;
    }

    private void move(FileView file, @Nullable String from, @Nullable String to, @Nullable String program) {
        if (from == null || to == null) {
            return;
        }
        State old = state(from, Before.PRESENT);
        if (old == null) {
            return;
        }
        var below = new ArrayList<>(states.subMap(from + "/", from + "0").keySet());
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
        target.bytesWritten += old.bytesWritten;
        target.was = old.was != null ? old.was : old.before == Before.ABSENT ? null : from;
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
