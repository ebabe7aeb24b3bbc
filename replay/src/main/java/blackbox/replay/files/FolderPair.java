package blackbox.replay.files;

import blackbox.replay.files.Side.Name;
import blackbox.replay.fs.FileTree;
import blackbox.replay.fs.MergedTree;
import blackbox.schemas.row.Text;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A folder of both trees, with its entries one beside the other; the walk goes through it once. Paths are put
/// together only when they are needed: those of a hostile tree may be very long.
///
/// @param above the folder that it is in, null at the top
/// @param place what it is there, null at the top
/// @param couples its entries, by the recorded names and those that only the replay has
/// @param fannedOut whether entries of some of its folders are among them ([FannedOut])
record FolderPair(@Nullable FolderPair above, @Nullable Couple place, List<Couple> couples, boolean fannedOut) {
    static final Text ROOT = Text.of("/");

    /// Two entries, one of each tree: with the same name, or with names that stand for each other. Or one that the
    /// other tree does not have.
    record Couple(@Nullable Name recorded, @Nullable Name actual) {}

    /// Puts entries beside each other by name.
    ///
    /// @param recorded by octets
    /// @param actual by octets
    static List<Couple> zip(List<Name> recorded, List<Name> actual) {
        var couples = new ArrayList<Couple>(Math.max(recorded.size(), actual.size()));
        int i = 0;
        int j = 0;
        while (i < recorded.size() || j < actual.size()) {
            int order = order(recorded, i, actual, j);
            couples.add(new Couple(order <= 0 ? recorded.get(i++) : null, order >= 0 ? actual.get(j++) : null));
        }
        return couples;
    }

    private static int order(List<Name> recorded, int i, List<Name> actual, int j) {
        if (i == recorded.size()) {
            return 1;
        }
        return j == actual.size()
                ? -1
                : FileTree.ORDER.compare(recorded.get(i).text(), actual.get(j).text());
    }

    /// The path of an entry: the recorded one, if the entry is recorded.
    Text path(Couple couple) {
        Name recorded = couple.recorded();
        return recorded == null ? actualPath(couple) : MergedTree.join(recordedPath(), recorded.text());
    }

    /// The path in the replay of an entry that it has.
    Text actualPath(Couple couple) {
        return MergedTree.join(
                actualPath(), Objects.requireNonNull(couple.actual()).text());
    }

    /// The same folder with other entries.
    FolderPair with(List<Couple> others) {
        return new FolderPair(above, place, others, fannedOut);
    }

    /// Its own path in the recording.
    Text recordedPath() {
        return path(Couple::recorded);
    }

    /// Its own path in the replay.
    Text actualPath() {
        return path(Couple::actual);
    }

    private Text path(Function<Couple, @Nullable Name> side) {
        Deque<byte[]> parts = new ArrayDeque<>();
        int length = 0;
        for (FolderPair each = this; each.place != null && each.above != null; each = each.above) {
            byte[] part = Objects.requireNonNull(side.apply(each.place)).text().toBytes();
            parts.push(part);
            length += 1 + part.length;
        }
        var octets = new byte[length];
        int at = 0;
        for (byte[] part : parts) {
            octets[at++] = '/';
            System.arraycopy(part, 0, octets, at, part.length);
            at += part.length;
        }
        return length == 0 ? ROOT : Text.copyOf(octets, 0, length);
    }
}
