package blackbox.replay.disk;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.replay.Moment.Position;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.FileEffect;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.ProcessId;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The event that last changed each of some paths, and whether the disk that is shown may lack what was written
/// to it.
public final class LastWrites {
    /// The tracer tells of an open file's writes this often at the latest, with some time to arrive.
    private static final long TOLD_WITHIN_NS = 7_000_000_000L;

    private final Map<Text, Write> writes = new HashMap<>();
    /// Paths with writes that may be younger than what the disk has.
    private final Set<Text> unsettled = new HashSet<>();
    /// Paths that were opened for writing after the moment.
    private final Set<Text> open = new HashSet<>();
    private final Set<Text> mapped = new HashSet<>();
    /// Paths whose name was removed last.
    private final Set<Text> gone = new HashSet<>();
    private final Set<Text> paths;
    private final @Nullable Text folder;
    private final Position asked;
    private final @Nullable Long syncedNs;

    private LastWrites(Set<Text> paths, @Nullable Text folder, Position asked, @Nullable Long syncedNs) {
        this.paths = Set.copyOf(paths);
        this.folder = folder;
        this.asked = asked;
        this.syncedNs = syncedNs;
    }

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

    /// Reads a run's events: up to the moment for who last changed each path, and some seconds further for what
    /// open files had been written by then. A shared writable mapping counts as a change: what is written
    /// through it is not seen.
    ///
    /// @param folder whose entries are of interest besides `paths`, to know which are not on the disk; null for
    ///     none
    /// @param syncedNs up to when all that was written is on the disk that is shown, null if that is not known
    static LastWrites find(
            Recordings recordings,
            RunId run,
            Set<Text> paths,
            @Nullable Text folder,
            Position asked,
            @Nullable Long syncedNs)
            throws IOException {
        var found = new LastWrites(paths, folder, asked, syncedNs);
        var views = new EventViews();
        try (RunReader reader = RunReader.open(recordings, run, 0)) {
            while (reader.next()) {
                boolean later = reader.index() > asked.index();
                if (later && (syncedNs == null || atNs(reader) > asked.atNs() + TOLD_WITHIN_NS)) {
                    break;
                }
                if (views.of(reader.row()) instanceof FileView file) {
                    if (later) {
                        found.tellLater(file);
                    } else {
                        found.tell(reader.index(), file);
                    }
                }
            }
        }
        return found;
    }

    /// The event that last changed a path by the moment, or null.
    @Nullable
    Write of(Text path) {
        return writes.get(path);
    }

    /// How much older than the moment the content of a path may be; see [DiskListing.Entry].
    @Nullable
    Duration mayLack(Text path) {
        Long synced = syncedNs;
        if (synced == null) {
            return null;
        }
        boolean lacks = unsettled.contains(path) || mapped.contains(path);
        return lacks ? Duration.ofNanos(Math.max(1, asked.atNs() - synced)) : Duration.ZERO;
    }

    /// Entries of the folder that were there at the moment and need not be on the disk that is shown, with who
    /// changed them last; without those of `paths`.
    SortedMap<Text, Write> notOnDisk() {
        var missing = new TreeMap<Text, Write>((one, other) -> Arrays.compareUnsigned(one.toBytes(), other.toBytes()));
        writes.forEach((path, write) -> {
            if (unsettled.contains(path) && !paths.contains(path) && !gone.contains(path)) {
                missing.put(path, write);
            }
        });
        return missing;
    }

    private boolean isOfInterest(Text path) {
        return paths.contains(path) || folder != null && isIn(folder, path);
    }

    private static boolean isIn(Text folder, Text path) {
        byte[] above = folder.toBytes();
        byte[] octets = path.toBytes();
        int from = above.length == 1 ? 0 : above.length;
        if (octets.length <= from + 1 || !Arrays.equals(above, 0, from, octets, 0, from) || octets[from] != '/') {
            return false;
        }
        for (int i = from + 1; i < octets.length; i++) {
            if (octets[i] == '/') {
                return false;
            }
        }
        return true;
    }

    private void tell(long index, FileView file) {
        for (Text path : changed(file)) {
            if (isOfInterest(path)) {
                writes.put(path, write(index, file));
                gone.remove(path);
                Long synced = syncedNs;
                if (synced != null && file.atNs() > synced) {
                    unsettled.add(path);
                }
            }
        }
        Text path = file.path();
        if (path == null || !isOfInterest(path)) {
            return;
        }
        Set<FileEffect> effects = file.effects();
        if (effects.contains(FileEffect.MAPS)) {
            mapped.add(path);
        }
        if (effects.contains(FileEffect.DELETES) || effects.contains(FileEffect.RENAMES)) {
            gone.add(path);
        }
    }

    /// An event after the moment: of an open file, it tells of writes before it.
    private void tellLater(FileView file) {
        Text path = file.path();
        if (path == null || !isOfInterest(path)) {
            return;
        }
        if (file instanceof FileView.Open opened && opened.isForWriting()) {
            open.add(path); // what follows may be of this one
        } else if (file instanceof FileView.Io io && io.writes() > 0 && !open.contains(path)) {
            unsettled.add(path);
        }
    }

    private static long atNs(RunReader reader) {
        return reader.row().has(Column.AT_NS) ? reader.row().number(Column.AT_NS) : 0;
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
