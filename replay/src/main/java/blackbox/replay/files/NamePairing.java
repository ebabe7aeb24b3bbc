package blackbox.replay.files;

import blackbox.replay.ReplayException;
import blackbox.replay.files.FilesMatch.Pair;
import blackbox.replay.files.FilesMatch.Pairs;
import blackbox.replay.files.FolderPair.Couple;
import blackbox.replay.files.Side.Name;
import blackbox.replay.fs.Inode;
import blackbox.replay.fs.MergedTree;
import blackbox.schemas.row.Text;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Finds which of the names that only one side has in a folder stand for each other. What is not paired within the
/// limits here counts as missing and as extra. Owned by one thread.
final class NamePairing {
    /// Names of one side in one folder.
    private static final int NAMES_MAX = 10_000;
    /// In all folders together: some seconds.
    private static final long TRIES_MAX = 50_000_000;
    /// No system call takes a longer one, so that no event has it.
    private static final int PATH_BYTES_MAX = 4096;

    private final Names names;
    private final Side recorded;
    private final Side actual;
    private final List<Pair> shown = new ArrayList<>();
    private long triesLeft = TRIES_MAX;
    private long count;

    NamePairing(Names names, Side recorded, Side actual) {
        this.names = names;
        this.recorded = recorded;
        this.actual = actual;
    }

    /// A name of the replay that may stand for a recorded one.
    private static final class Candidate {
        private final Name name;
        private final Text path;
        private @Nullable Inode inode;
        private boolean taken;

        Candidate(Name name, Text path) {
            this.name = name;
            this.path = path;
        }
    }

    Pairs found() {
        return new Pairs(count, shown);
    }

    /// Puts together the entries of a folder whose names stand for each other.
    FolderPair in(FolderPair folder) throws ReplayException, IOException {
        if (names.equals(Names.NONE)) {
            return folder;
        }
        var onlyRecorded = new ArrayList<Name>();
        var onlyActual = new ArrayList<Name>();
        for (Couple each : folder.couples()) {
            if (each.recorded() != null && each.actual() == null) {
                onlyRecorded.add(each.recorded());
            } else if (each.actual() != null && each.recorded() == null) {
                onlyActual.add(each.actual());
            }
        }
        if (onlyRecorded.isEmpty() || onlyActual.isEmpty()) {
            return folder;
        }
        Map<Name, Name> pairs = pairs(folder, onlyRecorded, onlyActual);
        return pairs.isEmpty() ? folder : folder.with(with(folder.couples(), pairs));
    }

    /// The couples, with these put together.
    ///
    /// @param pairs actual names by recorded ones
    static List<Couple> with(List<Couple> couples, Map<Name, Name> pairs) {
        Set<Name> taken = new HashSet<>(pairs.values());
        var paired = new ArrayList<Couple>(couples.size());
        for (Couple each : couples) {
            Name stands = each.actual() == null ? pairs.get(each.recorded()) : null;
            if (stands != null) {
                paired.add(new Couple(each.recorded(), stands));
            } else if (each.recorded() != null || !taken.contains(each.actual())) {
                paired.add(each);
            }
        }
        return paired;
    }

    /// Actual names by recorded ones.
    private Map<Name, Name> pairs(FolderPair folder, List<Name> onlyRecorded, List<Name> onlyActual)
            throws ReplayException, IOException {
        Text here = folder.recordedPath();
        Text there = folder.actualPath();
        if (Math.max(here.length(), there.length()) > PATH_BYTES_MAX) {
            return Map.of();
        }
        List<Candidate> candidates = onlyActual.stream()
                .limit(NAMES_MAX)
                .map(name -> new Candidate(name, MergedTree.join(there, name.text())))
                .toList();
        var pairs = new HashMap<Name, Name>();
        for (Name name : onlyRecorded.subList(0, Math.min(NAMES_MAX, onlyRecorded.size()))) {
            Text path = MergedTree.join(here, name.text());
            Candidate found = standIn(recorded.inode(name.number()), path, candidates);
            if (found != null) {
                found.taken = true;
                pairs.put(name, found.name);
                names.paired(path, found.path);
                if (++count <= Pairs.SHOWN_MAX) {
                    shown.add(new Pair(path, found.path));
                }
            }
        }
        return pairs;
    }

    /// Of several, rather one that looks the same.
    private @Nullable Candidate standIn(Inode wanted, Text path, List<Candidate> candidates)
            throws ReplayException, IOException {
        Candidate first = null;
        for (Candidate each : candidates) {
            if (each.taken || --triesLeft < 0 || !names.standFor(path, each.path)) {
                continue;
            }
            if (each.inode == null) {
                each.inode = actual.inode(each.name.number());
            }
            if (isAlike(wanted, each.inode)) {
                return each;
            }
            first = first == null ? each : first;
        }
        return first;
    }

    private static boolean isAlike(Inode one, Inode other) {
        return one.type() == other.type() && one.permissions() == other.permissions() && one.bytes() == other.bytes();
    }
}
