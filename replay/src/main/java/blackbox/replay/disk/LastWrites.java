package blackbox.replay.disk;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.replay.Moment.Position;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.FileEffect;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
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
    /// The tracer reports an open file's writes this often at the latest, with some time to arrive.
    private static final long REPORTED_WITHIN_NS = 7_000_000_000L;

    private final Map<Text, Write> writes = new HashMap<>();
    /// Paths with writes that may be younger than what the disk has.
    private final Set<Text> unsettled = new HashSet<>();
    /// Folders that were renamed so late that what is below them may be younger than what the disk has under that name.
    private final Set<Text> unsettledFolders = new HashSet<>();
    /// Paths that were opened for writing by the moment.
    private final Set<Text> opened = new HashSet<>();
    /// Paths of files that are mapped for shared writing, whatever they are called since.
    private final Set<Text> mapped = new HashSet<>();
    /// Paths whose name was removed last.
    private final Set<Text> gone = new HashSet<>();
    private final Set<Text> paths;
    private final @Nullable Text folder;
    private final Position asked;
    private final @Nullable Long syncedNs;
    /// Whether the tracer was heard long enough after the moment to know what open files had been written by then.
    private boolean heard;
    /// Whether events may be missing that would say that something was written.
    private boolean lost;

    LastWrites(Set<Text> paths, @Nullable Text folder, Position asked, @Nullable Long syncedNs) {
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
            boolean more = true;
            while (more && reader.next()) {
                more = found.take(reader.index(), views.of(reader.row()));
            }
        }
        return found;
    }

    /// Takes the run's next event; says whether a further one could matter.
    boolean take(long index, EventView event) {
        boolean later = index > asked.index();
        if (later && syncedNs == null) {
            return false;
        }
        listen(event, later);
        if (event instanceof FileView file) {
            if (later) {
                readLater(file);
            } else {
                read(index, file);
            }
        }
        return !heard;
    }

    /// The event that last changed a path by the moment, or null.
    @Nullable
    Write of(Text path) {
        return writes.get(path);
    }

    /// How much older than the moment the content of a file may be; see [DiskListing.Entry].
    ///
    /// @param alone whether it has no other name, under which it could have been written
    @Nullable
    Duration mayLack(Text path, boolean alone) {
        Long synced = syncedNs;
        if (synced == null) {
            return null;
        }
        if (unsettled.contains(path) || mapped.contains(path) || isBelowUnsettled(path)) {
            return Duration.ofNanos(Math.max(1, asked.atNs() - synced));
        }
        boolean written = opened.contains(path) || writes.containsKey(path);
        return lost || !alone || written && !heard ? null : Duration.ZERO;
    }

    private boolean isBelowUnsettled(Text path) {
        String name = path.toString();
        return unsettledFolders.stream().anyMatch(folder -> name.startsWith(folder + "/"));
    }

    /// Takes in how far the tracer was heard, and whether something was not.
    private void listen(EventView event, boolean later) {
        Long synced = syncedNs;
        boolean since = synced == null || event.atNs() > synced;
        lost |= since
                && (event instanceof RecorderView.Loss
                        || event instanceof RecorderView.Noticed noticed && noticed.meansMissing());
        // At the run's close every process of the agent has ended, and its files are closed.
        heard |= event instanceof RunView.Close
                || later && event.isByGuest() && event.atNs() > asked.atNs() + REPORTED_WITHIN_NS;
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

    /// An event before the moment.
    private void read(long index, FileView file) {
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
        if (path == null) {
            return;
        }
        Set<FileEffect> effects = file.effects();
        if (effects.contains(FileEffect.MAPS)) {
            mapped.add(path);
        }
        if (file instanceof FileView.Rename rename && !rename.failed() && rename.pathTo() != null) {
            renamed(path, rename.pathTo(), file.atNs());
            if (rename.isExchange()) {
                renamed(rename.pathTo(), path, file.atNs());
            }
        }
        if (!isOfInterest(path)) {
            return;
        }
        if (file instanceof FileView.Open open && open.isForWriting()) {
            opened.add(path);
        }
        if (effects.contains(FileEffect.DELETES) || effects.contains(FileEffect.RENAMES)) {
            gone.add(path);
        }
    }

    /// What is at the new name was written under the old one, which later reports of open files no longer use.
    private void renamed(Text from, Text to, long atNs) {
        if (mapped.contains(from)) {
            mapped.add(to);
        }
        Long synced = syncedNs;
        if (synced != null && atNs > synced) {
            unsettledFolders.add(to);
        }
    }

    /// An event after the moment: it may report writes to an open file that were before it.
    private void readLater(FileView file) {
        Text path = file.path();
        if (path == null || !isOfInterest(path)) {
            return;
        }
        Set<FileEffect> effects = file.effects();
        boolean loses = effects.contains(FileEffect.RENAMES) || effects.contains(FileEffect.DELETES);
        // Reports name a file as it is called by then: one that loses its name is not heard of again.
        if (file instanceof FileView.Io io && io.writes() > 0 || loses && opened.contains(path)) {
            unsettled.add(path);
        }
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
