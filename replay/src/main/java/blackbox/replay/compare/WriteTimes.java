package blackbox.replay.compare;

import blackbox.replay.content.Window;
import blackbox.replay.content.WrittenWhen;
import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// When one side wrote its files, as its events say: from the first event that may have changed what has a path to the
/// last one. What is renamed takes its time along.
///
/// Memory: [#PATHS_MAX] paths; of further ones nothing is known.
final class WriteTimes {
    static final int PATHS_MAX = 1 << 17;
    private static final int PROCESSES_MAX = 1 << 16;
    private static final int PATH_OCTETS_MAX = 32 << 20;

    private final Map<Text, Window> windows = new HashMap<>();
    /// When the first who wrote a file began.
    private final Map<Text, Long> since = new HashMap<>();
    private final Map<ProcessId, Long> began = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ProcessId, Long> eldest) {
            return size() > PROCESSES_MAX;
        }
    };
    private @Nullable Window run;
    private long octets;

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
        add(path, now);
        Long start = process == null ? null : began.get(process);
        // One that is not known may have begun at any time.
        began(path, start == null ? Long.MAX_VALUE : start);
        Text target = file instanceof FileView.ToName named ? named.pathTo() : null;
        Window written = windows.get(path);
        if (target != null && written != null) {
            add(target, written);
            began(target, since.getOrDefault(path, Long.MAX_VALUE));
        }
    }

    private void began(Text path, long start) {
        if (windows.containsKey(path)) {
            since.merge(path, start, WriteTimes::first);
        }
    }

    private static long first(long one, long other) {
        return one == Long.MAX_VALUE || other == Long.MAX_VALUE ? Long.MAX_VALUE : Math.min(one, other);
    }

    private void add(Text path, Window when) {
        boolean known = windows.containsKey(path);
        if (known || windows.size() < PATHS_MAX && octets < PATH_OCTETS_MAX) {
            octets += known ? 0 : path.length();
            windows.merge(path, when, Window::with);
        }
    }

    /// When what has that path in the end was written.
    WrittenWhen of(Text path) {
        Window window = window(path);
        if (window == null) {
            return WrittenWhen.UNKNOWN;
        }
        long start = since.getOrDefault(path, Long.MAX_VALUE);
        return new WrittenWhen() {
            @Override
            public Window at(long octet) {
                return window;
            }

            @Override
            public long sinceNs() {
                return start;
            }
        };
    }

    /// The same as a window, or null if it is not known.
    @Nullable
    Window window(Text path) {
        return windows.get(path);
    }

    /// From the first event to the last, null if there is none.
    @Nullable
    Window run() {
        return run;
    }
}
