package blackbox.replay.seek;

import blackbox.schemas.folder.DataFolder;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.replay.ReplayCheckpoints;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/// How much of the host's disk all indexes of a data folder may use together: 16 GiB, or a quarter of what
/// would be free without them. The least recently used ones are deleted.
final class IndexQuota {
    private static final long BYTES_MAX = 16L << 30;
    private static final int FREE_SHARE = 4;

    private IndexQuota() {}

    private record Index(Path folder, long bytes, FileTime used) {}

    /// Makes room for one of the indexes in `replays`; returns how many octets it may use.
    static long make(Path replays, Path folder) throws IOException, VmException {
        var others = new ArrayList<Index>();
        long taken = 0;
        for (Path each : siblings(replays)) {
            var index = new Index(each, ReplayCheckpoints.open(each).bytes(), Files.getLastModifiedTime(each));
            taken += index.bytes();
            if (!each.equals(folder)) {
                others.add(index);
            }
        }
        long free = Files.getFileStore(folder).getUsableSpace();
        long most = Math.min(BYTES_MAX, (free + taken) / FREE_SHARE);
        others.sort(Comparator.comparing(Index::used));
        for (Index oldest : others) {
            // Half is for this one.
            if (taken <= most / 2) {
                break;
            }
            if (remove(oldest.folder())) {
                taken -= oldest.bytes();
            }
        }
        return Math.max(0, most - (taken - ReplayCheckpoints.open(folder).bytes()));
    }

    private static List<Path> siblings(Path replays) throws IOException {
        try (Stream<Path> runs = Files.list(replays)) {
            return runs.map(run -> run.resolve(DataFolder.INDEX))
                    .filter(Files::isDirectory)
                    .toList();
        }
    }

    /// Deletes an index, unless it is being made.
    private static boolean remove(Path folder) throws IOException, VmException {
        try (IndexLock lock = IndexLock.tryTake(folder)) {
            if (lock == null) {
                return false;
            }
            ScratchFolder.delete(folder);
            return true;
        }
    }
}
