package blackbox.replay.files;

import blackbox.replay.ReplayException;
import blackbox.replay.files.FolderPair.Couple;
import blackbox.replay.files.Side.Name;
import blackbox.replay.fs.FileType;
import blackbox.replay.fs.Inode;
import blackbox.replay.fs.MergedTree;
import blackbox.schemas.row.Text;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A folder in whose subfolders, each named by two hexadecimal digits, files are spread by their names: git's objects.
/// If
/// one of them has another name on the other side, it may be in another one of these.
///
/// So its files are looked at as if they were in the folder itself, and the subfolders only as what they are. One that
/// only one side has stands beside one that has the counterpart of a file in it.
final class FannedOut {

    private FannedOut() {}

    /// The entries of a folder and of its subfolders of that kind, by octets.
    static List<Name> list(Side side, Inode folder) throws ReplayException, IOException {
        var names = new ArrayList<Name>();
        for (Name name : side.list(folder)) {
            names.add(name);
            if (isFan(name)) {
                Inode inode = side.inode(name.number());
                if (inode.type() == FileType.FOLDER) {
                    for (Name file : side.list(inode)) {
                        names.add(new Name(join(name.text(), file.text()), file.number()));
                    }
                }
            }
        }
        names.sort(Side.BY_OCTETS);
        return names;
    }

    private static Text join(Text folder, Text file) {
        return MergedTree.join(folder, file);
    }

    /// Whether it is such a subfolder, if it is a folder.
    static boolean isFan(Name name) {
        String text = name.text().toString();
        return text.length() == 2 && text.chars().allMatch(FannedOut::isHex);
    }

    private static boolean isHex(int letter) {
        return letter >= '0' && letter <= '9' || letter >= 'a' && letter <= 'f';
    }

    /// The subfolder of a file in it; null for anything else.
    private static @Nullable Text folderOf(Name name) {
        byte[] octets = name.text().toBytes();
        return octets.length > 3 && octets[2] == '/' ? Text.copyOf(octets, 0, 2) : null;
    }

    /// Puts together files that are known to be the same.
    static List<Couple> paired(List<Couple> couples, Names names) {
        Map<Text, Name> onlyActual = new HashMap<>();
        for (Couple couple : couples) {
            if (couple.recorded() == null && couple.actual() != null) {
                onlyActual.put(couple.actual().text(), couple.actual());
            }
        }
        Map<Name, Name> actualOf = new HashMap<>();
        for (Couple couple : couples) {
            Name one = couple.recorded();
            Text same = one == null || couple.actual() != null ? null : names.sameAs(one.text());
            Name other = same == null ? null : onlyActual.remove(same);
            if (one != null && other != null) {
                actualOf.put(one, other);
            }
        }
        return NamePairing.with(couples, actualOf);
    }

    /// Puts beside each subfolder that only one side has one of the other side with a counterpart of what is in it.
    static FolderPair together(FolderPair folder) {
        Map<Text, Text> actualOf = new HashMap<>();
        Map<Text, Text> recordedOf = new HashMap<>();
        Map<Text, Name> recorded = new HashMap<>();
        Map<Text, Name> actual = new HashMap<>();
        for (Couple couple : folder.couples()) {
            Name one = couple.recorded();
            Name other = couple.actual();
            if (one != null) {
                recorded.put(one.text(), one);
            }
            if (other != null) {
                actual.put(other.text(), other);
            }
            Text here = one == null ? null : folderOf(one);
            Text there = other == null ? null : folderOf(other);
            if (here != null && there != null) {
                actualOf.putIfAbsent(here, there);
                recordedOf.putIfAbsent(there, here);
            }
        }
        var couples = new ArrayList<Couple>(folder.couples().size());
        for (Couple couple : folder.couples()) {
            Name one = couple.recorded();
            Name other = couple.actual();
            if (one != null && other == null) {
                couples.add(new Couple(one, counterpart(one, actualOf, actual)));
            } else if (one == null && other != null) {
                couples.add(new Couple(counterpart(other, recordedOf, recorded), other));
            } else {
                couples.add(couple);
            }
        }
        return folder.with(couples);
    }

    private static @Nullable Name counterpart(Name folder, Map<Text, Text> others, Map<Text, Name> names) {
        Text other = others.get(folder.text());
        return other == null ? null : names.get(other);
    }
}
