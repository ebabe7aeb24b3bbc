package blackbox.replay.disk;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.FileEffect;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.ProcessId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The event that last changed each of some paths.
public final class LastWrites {
    private LastWrites() {}

    /// An event that changed a file.
    ///
    /// @param process its short name, or null if the event names none
    /// @param startNs identifies the process within the run together with its pid, or null
    public record Write(
            long index,
            long atNs,
            Kind kind,
            @Nullable Text process,
            @Nullable Long pid,
            @Nullable Long startNs) {}

    /// The last event that changed each path, up to and including the event `last`. A shared writable mapping
    /// counts as a change: what is written through it is not seen.
    static Map<Text, Write> find(Recordings recordings, RunId run, Set<Text> paths, long last) throws IOException {
        var writes = new HashMap<Text, Write>();
        var views = new EventViews();
        try (RunReader reader = RunReader.open(recordings, run, 0)) {
            while (reader.next() && reader.index() <= last) {
                if (views.of(reader.row()) instanceof FileView file) {
                    for (Text path : changed(file)) {
                        if (paths.contains(path)) {
                            writes.put(path, write(reader.index(), file));
                        }
                    }
                }
            }
        }
        return writes;
    }

    private static List<Text> changed(FileView file) {
        var changed = new ArrayList<Text>(2);
        add(changed, file.path(), file.effects());
        if (file instanceof FileView.ToName leads) {
            add(changed, leads.pathTo(), leads.effectsThere());
        }
        return changed;
    }

    private static void add(List<Text> changed, @Nullable Text path, Set<FileEffect> effects) {
        if (path != null && effects.stream().anyMatch(each -> each.isChange() || each == FileEffect.MAPS)) {
            changed.add(path);
        }
    }

    private static Write write(long index, FileView file) {
        ProcessId process = file.process();
        return new Write(
                index,
                file.atNs(),
                Objects.requireNonNull(file.kind(), "a file's event has a kind"),
                file.comm(),
                process == null ? null : process.pid(),
                process == null ? null : process.startNs());
    }
}
