package blackbox.replay.disk;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.text.Printable;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.disk.LastWrites.Write;
import blackbox.replay.fs.FileType;
import blackbox.replay.fs.MergedTree;
import blackbox.replay.fs.MergedTree.Found;
import blackbox.replay.fs.MergedTree.Last;
import blackbox.replay.fs.MergedTree.Node;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Text;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/// A folder, or a file, on a disk at a moment.
///
/// @param path its own, with links resolved
/// @param entries what the folder holds, sorted; or the file itself
/// @param notOnDisk what else was in the folder at the moment, as far as events say, and may not have reached
///     the disk by then, with who changed it last
public record DiskListing(Text path, List<Entry> entries, SortedMap<Text, Write> notOnDisk) {

    public DiskListing {
        entries = List.copyOf(entries);
        notOnDisk = Collections.unmodifiableSortedMap(notOnDisk);
    }

    /// One file.
    ///
    /// @param path its own, from the root
    /// @param target where a symbolic link points to; null for anything else
    /// @param lastWrite the event that last changed it, or null if none has since the run began
    /// @param mayLack the time before the moment in which it was written to, as far as is known, without that
    ///     this must be on the disk shown; zero if it is as it was at the moment, by what the guest says
    ///     and as far as all of its events are there; null if that is not known, and for a folder
    public record Entry(
            Text path,
            Node node,
            @Nullable Text target,
            @Nullable Write lastWrite,
            @Nullable Duration mayLack) {}

    /// Lists the folder at `path`, or the file there: a symbolic link at its end is shown, not followed.
    ///
    /// @throws ReplayException `BAD_INPUT` when nothing is there, `ENGINE`
    public static DiskListing of(DiskAt disk, Recordings recordings, RunId run, Text path)
            throws ReplayException, IOException {
        MergedTree tree = disk.tree();
        Found found = found(tree, path, Last.SHOWN, disk);
        var nodes = new LinkedHashMap<Text, Node>();
        try {
            boolean isFolder = found.node().inode().type() == FileType.FOLDER;
            if (isFolder) {
                tree.list(found.node()).forEach((name, node) -> nodes.put(MergedTree.join(found.path(), name), node));
            } else {
                nodes.put(found.path(), found.node());
            }
            LastWrites writes = writes(disk, recordings, run, nodes.keySet(), isFolder ? found.path() : null);
            return new DiskListing(found.path(), entries(tree, nodes, writes), writes.notOnDisk());
        } catch (blackbox.replay.fs.DamagedTreeException e) {
            throw DiskAt.unreadable(e);
        }
    }

    /// The file at `path`, links followed within the guest's tree.
    ///
    /// @throws ReplayException `BAD_INPUT` when nothing is there, or something that is not a file
    public static Entry file(DiskAt disk, Recordings recordings, RunId run, Text path)
            throws ReplayException, IOException {
        Found found = found(disk.tree(), path, Last.FOLLOWED, disk);
        if (found.node().inode().type() != FileType.FILE) {
            throw new ReplayException(
                    Code.BAD_INPUT,
                    "'" + printable(found.path()) + "' was a "
                            + found.node().inode().type().word() + " then, not a file; --list shows it");
        }
        LastWrites writes = writes(disk, recordings, run, Set.of(found.path()), null);
        return new Entry(
                found.path(), found.node(), null, writes.of(found.path()), mayLack(writes, found.path(), found.node()));
    }

    /// The octets of a file.
    public static InputStream content(DiskAt disk, Entry file) throws ReplayException {
        try {
            return disk.tree().open(file.node());
        } catch (IOException e) {
            throw DiskAt.unreadable(e);
        }
    }

    private static Found found(MergedTree tree, Text path, Last last, DiskAt disk) throws ReplayException {
        try {
            Found found = tree.find(path, last);
            if (found == null) {
                throw new ReplayException(
                        Code.BAD_INPUT,
                        "there was no '" + printable(path) + "' on the disk then; --list shows what was"
                                + (disk.shown().whole() ? "" : " (the log of the disk is truncated)"));
            }
            return found;
        } catch (IOException e) {
            throw DiskAt.unreadable(e);
        }
    }

    private static LastWrites writes(
            DiskAt disk, Recordings recordings, RunId run, Set<Text> paths, @Nullable Text folder) throws IOException {
        return LastWrites.find(
                recordings,
                run,
                new HashSet<>(paths),
                folder,
                disk.shown().asked(),
                disk.shown().syncedNs());
    }

    private static List<Entry> entries(MergedTree tree, Map<Text, Node> nodes, LastWrites writes) throws IOException {
        var entries = new ArrayList<Entry>();
        for (Map.Entry<Text, Node> each : nodes.entrySet()) {
            Node node = each.getValue();
            Text target = node.inode().type() == FileType.LINK ? tree.target(node) : null;
            Text path = each.getKey();
            entries.add(new Entry(path, node, target, writes.of(path), mayLack(writes, path, node)));
        }
        return entries;
    }

    private static @Nullable Duration mayLack(LastWrites writes, Text path, Node node) {
        return node.inode().type() == FileType.FOLDER
                ? null
                : writes.mayLack(path, node.inode().links() <= 1);
    }

    /// Whole milliseconds, rounded up: what may lack something never shows as 0.
    public static long milliseconds(Duration mayLack) {
        return mayLack.plusNanos(999_999).toMillis();
    }

    private static String printable(Text path) {
        return Printable.of(path.toString());
    }
}
