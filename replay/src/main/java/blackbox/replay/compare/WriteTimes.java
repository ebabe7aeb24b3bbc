package blackbox.replay.compare;

import blackbox.replay.content.NameTime;
import blackbox.replay.content.Window;
import blackbox.replay.content.WrittenWhen;
import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.FileEffect;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import java.io.IOException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// When one side wrote its files, as its events say: from the first event that may have changed what has a path to the
/// last one. What is renamed takes its time along, and so does everything below a folder that is renamed.
///
/// Memory: [#PATHS_MAX] paths, folders included; of further ones nothing is known. [#NAMED_MAX] times in names.
final class WriteTimes {
    static final int PATHS_MAX = PathTree.PATHS_MAX;
    private static final int PROCESSES_MAX = 1 << 16;
    private static final int NAMED_MAX = 1 << 16;

    private final PathTree<Written> paths = new PathTree<>();
    private final Map<ProcessId, Long> began = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ProcessId, Long> eldest) {
            return size() > PROCESSES_MAX;
        }
    };
    private final Set<Long> named = new HashSet<>();
    private @Nullable Window run;

    /// When something was written.
    ///
    /// @param sinceNs when the first who wrote it began; [Long#MAX_VALUE] if that is not known
    private record Written(Window window, long sinceNs) implements WrittenWhen {
        /// A process that is not known may have begun at any time.
        private Written with(Written other) {
            boolean unknown = sinceNs == Long.MAX_VALUE || other.sinceNs == Long.MAX_VALUE;
            return new Written(window.with(other.window), unknown ? Long.MAX_VALUE : Math.min(sinceNs, other.sinceNs));
        }

        @Override
        public Window at(long octet) {
            return window;
        }
    }

    private WriteTimes() {}

    /// Reads all events once.
    static WriteTimes of(EventSource events) throws IOException {
        var times = new WriteTimes();
        var views = new EventViews();
        try (EventCursor cursor = events.open(0)) {
            while (cursor.next()) {
                times.see(views.of(cursor.row()));
            }
        }
        return times;
    }

    private void see(EventView event) {
        var now = new Window(event.atNs(), event.atNs());
        run = run == null ? now : run.with(now);
        ProcessId process = event.process();
        if (process != null && event instanceof ProcessView) {
            began.putIfAbsent(process, event.atNs());
        }
        if (!(event instanceof FileView file) || !file.mayChange()) {
            return;
        }
        Text path = file.path();
        if (path == null) {
            return;
        }
        Long start = process == null ? null : began.get(process);
        var here = new Written(now, start == null ? Long.MAX_VALUE : start);
        add(path, here);
        if (file.effects().contains(FileEffect.CREATES)) {
            name(path);
        }
        if (file instanceof FileView.Rename rename && rename.isExchange()) {
            if (rename.pathTo() != null) {
                add(rename.pathTo(), here);
            }
            return;
        }
        Text target = file instanceof FileView.Rename rename ? rename.pathTo() : null;
        Written written = paths.get(path);
        if (target != null && written != null) {
            paths.moveBelow(path, target);
            add(target, written);
        }
    }

    private void name(Text path) {
        NameTime time = NameTime.in(PathTree.lastName(path));
        if (time != null && named.size() < NAMED_MAX) {
            named.add(time.ns());
        }
    }

    /// Whether something was created with that time in its name, or may have been: there are too many to tell.
    boolean hasNamed(NameTime time) {
        return named.size() >= NAMED_MAX || named.contains(time.ns());
    }

    private void add(Text path, Written when) {
        paths.merge(path, when, Written::with);
    }

    /// When what has that path in the end was written.
    WrittenWhen of(Text path) {
        Written written = paths.get(path);
        return written == null ? WrittenWhen.UNKNOWN : written;
    }

    /// The same as a window, or null if it is not known.
    @Nullable
    Window window(Text path) {
        Written written = paths.get(path);
        return written == null ? null : written.window();
    }

    /// When the times may be from that are in the name of what has that path, or null if it is not known.
    @Nullable
    Window named(Text path) {
        Written written = paths.get(path);
        return written == null
                ? null
                : NameTime.window(written.sinceNs(), written.window().fromNs());
    }

    /// From the first event to the last, null if there is none.
    @Nullable
    Window run() {
        return run;
    }
}
