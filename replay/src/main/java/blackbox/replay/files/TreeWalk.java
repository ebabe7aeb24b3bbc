package blackbox.replay.files;

import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.files.ContentRule.Found;
import blackbox.replay.files.FileDifference.How;
import blackbox.replay.files.FilesMatch.Pair;
import blackbox.replay.files.FolderPair.Couple;
import blackbox.replay.files.Side.Name;
import blackbox.replay.fs.DamagedTreeException;
import blackbox.replay.fs.FileTree;
import blackbox.replay.fs.FileType;
import blackbox.replay.fs.Inode;
import blackbox.schemas.Hash;
import blackbox.schemas.row.Text;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Goes through two trees side by side, folder by folder. One object, one comparison, one thread.
final class TreeWalk {
    /// By its path a program gets 2,047 deep, step by step as deep as it likes.
    private static final int LEVELS_MAX = 10_000;
    /// Names of the folders on the way down: some hundred octets each.
    private static final int NAMES_MAX = 1_000_000;
    /// Files with several names whose contents are known to be the same.
    private static final int LINKED_MAX = 4_096;

    /// Longer files have to be equal octet for octet.
    private static final long RULED_BYTES_MAX = 256 << 20;

    private static final long SECOND_NS = 1_000_000_000;
    private static final long SECONDS_MAX = Long.MAX_VALUE / SECOND_NS - 1;

    private static final Text OBJECTS = Text.of("objects");

    private static final String ABSENT = "nothing but what the image has there";

    private final Side recorded;
    private final Side actual;
    private final ContentRule rule;
    private final Names names;
    private final NamePairing pairing;
    /// The folders on the way down, the innermost first.
    private final Deque<Level> levels = new ArrayDeque<>();
    private final FileTimes times = new FileTimes();
    private final Set<Linked> same = new LinkedHashSet<>();
    private final List<FileDifference> shown = new ArrayList<>();
    private int namesHeld;
    private long files;
    private long octets;
    private long count;

    TreeWalk(FilesAtEnd recorded, FilesAtEnd actual, Names names, ContentRule rule) {
        this.recorded = new Side(recorded, "the recorded run");
        this.actual = new Side(actual, "the replay");
        this.rule = rule;
        this.names = names;
        this.pairing = new NamePairing(names, this.recorded, this.actual);
    }

    /// A folder that the walk is in.
    private static final class Level {
        private final FolderPair folder;
        private int next;

        Level(FolderPair folder) {
            this.folder = folder;
        }

        @Nullable
        Couple next() {
            List<Couple> couples = folder.couples();
            return next == couples.size() ? null : couples.get(next++);
        }
    }

    private static final Pair ROOT = new Pair(FolderPair.ROOT, FolderPair.ROOT);

    /// The inodes of two files with the same content.
    private record Linked(long recorded, long actual) {}

    FilesMatch run() throws ReplayException, IOException {
        Inode one = recorded.top();
        Inode other = actual.top();
        compare(() -> ROOT, one, other, false);
        enter(null, null, one, other);
        for (Level here = levels.peek(); here != null; here = levels.peek()) {
            Couple couple = here.next();
            if (couple == null) {
                levels.pop();
                namesHeld -= here.folder.couples().size();
            } else {
                look(here.folder, couple);
            }
        }
        return new FilesMatch(files, octets, pairing.found(), times, count, shown);
    }

    private void enter(@Nullable FolderPair above, @Nullable Couple place, Inode one, Inode other)
            throws ReplayException, IOException {
        if (levels.size() == LEVELS_MAX) {
            throw recorded.tooLarge("its folders are nested more than " + LEVELS_MAX + " deep");
        }
        FolderPair folder = folder(above, place, one, other);
        namesHeld += folder.couples().size();
        if (namesHeld > NAMES_MAX) {
            throw recorded.tooLarge("its folders have more than " + NAMES_MAX + " names");
        }
        levels.push(new Level(folder));
    }

    private FolderPair folder(@Nullable FolderPair above, @Nullable Couple place, Inode one, Inode other)
            throws ReplayException, IOException {
        if (above == null || place == null || !isNamedAs(OBJECTS, place) || !names.mayBeFannedOut(above.path(place))) {
            return pairing.in(
                    new FolderPair(above, place, FolderPair.zip(recorded.list(one), actual.list(other)), false));
        }
        List<Couple> couples = FolderPair.zip(FannedOut.list(recorded, one), FannedOut.list(actual, other));
        var fannedOut = new FolderPair(above, place, FannedOut.paired(couples, names), true);
        return FannedOut.together(pairing.in(fannedOut));
    }

    private static boolean isNamedAs(Text name, Couple place) {
        Name one = place.recorded();
        return one != null && one.text().equals(name);
    }

    private void look(FolderPair here, Couple couple) throws ReplayException, IOException {
        Name one = couple.recorded();
        Name other = couple.actual();
        if (one == null || other == null) {
            onlyOne(here, couple);
            return;
        }
        files++;
        Inode expected = recorded.inode(one.number());
        Inode found = actual.inode(other.number());
        if (expected.type() == FileType.FILE && found.type() == FileType.FILE) {
            add(here, couple, modifiedNs(expected), modifiedNs(found));
        }
        boolean known = here.fannedOut() && isKnown(one, expected, other, found) || areSame(here, couple, one.text());
        if (compare(() -> new Pair(here.path(couple), here.actualPath(couple)), expected, found, known)
                && !(here.fannedOut() && FannedOut.isFan(one))) { // what is in it is here
            enter(here, couple, expected, found);
        }
    }

    /// A program may give a file any time (utimensat leaves no event): only one at which it was written counts.
    private void add(FolderPair here, Couple couple, long recordedNs, long actualNs) throws IOException {
        if (recordedNs != actualNs && names.wereWritten(here.path(couple), recordedNs, actualNs)) {
            times.add(recordedNs, actualNs);
        }
    }

    private boolean areSame(FolderPair here, Couple couple, Text recordedName) {
        return names.mayBeSame(recordedName) && names.areSame(here.path(couple), here.actualPath(couple));
    }

    /// Whether they are files that stand for each other, and hold what their names say.
    private boolean isKnown(Name one, Inode expected, Name other, Inode found) throws ReplayException, IOException {
        boolean stand = expected.type() == FileType.FILE
                && found.type() == FileType.FILE
                && Objects.equals(other.text(), names.sameAs(one.text()));
        return stand
                && difference(
                                (_, was, is) -> names.holdWhatTheyAreNamedFor(one.text(), was, other.text(), is)
                                        ? null
                                        : new Found(0, "", ""),
                                ROOT,
                                expected,
                                found)
                        == null;
    }

    /// Seconds beyond what fits into nanoseconds are of no run.
    private static long modifiedNs(Inode inode) {
        return Math.clamp(inode.modifiedSeconds(), -SECONDS_MAX, SECONDS_MAX) * SECOND_NS + inode.modifiedNanos();
    }

    private void onlyOne(FolderPair here, Couple couple) throws ReplayException, IOException {
        if (!isShown()) {
            return;
        }
        Name one = couple.recorded();
        Name other = couple.actual();
        if (one != null) {
            show(here.path(couple), How.MISSING, Side.inWords(recorded.inode(one.number())), ABSENT, -1);
        } else if (other != null) {
            show(here.path(couple), How.EXTRA, ABSENT, Side.inWords(actual.inode(other.number())), -1);
        }
    }

    /// Counts a difference; false if so many have been shown that this one is not.
    private boolean isShown() {
        return ++count <= FilesMatch.SHOWN_MAX;
    }

    private void show(Text path, How how, String expected, String found, long octet) {
        shown.add(new FileDifference(path, how, expected, found, octet));
    }

    /// Compares everything but names; true if both are folders.
    ///
    /// @param known whether their contents are known to be the same, if both are files
    private boolean compare(Supplier<Pair> path, Inode one, Inode other, boolean known)
            throws ReplayException, IOException {
        if (one.type() != other.type() || one.device() != other.device()) {
            if (isShown()) {
                show(path.get().recorded(), How.TYPE, Side.inWords(one), Side.inWords(other), -1);
            }
            return false;
        }
        if (Side.isDeleted(one)) {
            return false; // its other properties are the overlay's
        }
        properties(path, one, other);
        return switch (one.type()) {
            case FOLDER -> true;
            case FILE -> {
                if (!known) {
                    content(path, one, other);
                }
                yield false;
            }
            case LINK -> {
                target(path, one, other);
                yield false;
            }
            case CHARACTER_DEVICE, BLOCK_DEVICE, PIPE, SOCKET -> false;
        };
    }

    private void properties(Supplier<Pair> path, Inode one, Inode other) throws ReplayException, IOException {
        if (one.permissions() != other.permissions() && isShown()) {
            show(path.get().recorded(), How.MODE, mode(one), mode(other), -1);
        }
        if ((one.uid() != other.uid() || one.gid() != other.gid()) && isShown()) {
            show(path.get().recorded(), How.OWNER, owner(one), owner(other), -1);
        }
        SortedMap<Text, Text> expected = recorded.attributes(one);
        SortedMap<Text, Text> found = actual.attributes(other);
        if (!expected.equals(found) && isShown()) {
            Text name = firstDifferent(expected, found);
            show(path.get().recorded(), How.ATTRIBUTE, attribute(name, expected), attribute(name, found), -1);
        }
    }

    private static String mode(Inode inode) {
        return "%04o".formatted(inode.permissions());
    }

    private static String owner(Inode inode) {
        return "user " + inode.uid() + ", group " + inode.gid();
    }

    private static Text firstDifferent(SortedMap<Text, Text> expected, SortedMap<Text, Text> found) {
        var names = new TreeSet<Text>(FileTree.ORDER);
        names.addAll(expected.keySet());
        names.addAll(found.keySet());
        names.removeIf(name -> Objects.equals(expected.get(name), found.get(name)));
        return names.getFirst();
    }

    private static String attribute(Text name, SortedMap<Text, Text> attributes) {
        Text value = attributes.get(name);
        return value == null
                ? "no attribute " + name
                : "the attribute " + name + " of " + value.length() + " octets, SHA-256 "
                        + Hash.sha256(value.toBytes());
    }

    private void target(Supplier<Pair> path, Inode one, Inode other) throws ReplayException, IOException {
        Text expected = recorded.target(one);
        Text found = actual.target(other);
        if (!expected.equals(found) && isShown()) {
            show(path.get().recorded(), How.TARGET, "to " + expected, "to " + found, -1);
        }
    }

    private void content(Supplier<Pair> path, Inode one, Inode other) throws ReplayException, IOException {
        boolean longer = one.bytes() != other.bytes();
        if (longer && Math.max(one.bytes(), other.bytes()) > RULED_BYTES_MAX) {
            show(path, How.SIZE, one, other, new Found(0, "", ""));
            return;
        }
        if (!longer) {
            octets += Math.min(one.bytes(), Long.MAX_VALUE - octets); // files with holes may add up to any number
        }
        var linked = new Linked(one.number(), other.number());
        if (same.contains(linked)) {
            return;
        }
        Found found = difference(path, one, other);
        if (found == null) {
            remember(linked, one, other);
        } else {
            show(path, longer ? How.SIZE : How.CONTENT, one, other, found);
        }
    }

    private void show(Supplier<Pair> path, How how, Inode one, Inode other, Found found)
            throws ReplayException, IOException {
        if (isShown()) {
            show(
                    path.get().recorded(),
                    how,
                    recorded.content(one) + found.expected(),
                    actual.content(other) + found.actual(),
                    how == How.CONTENT ? found.octet() : -1);
        }
    }

    private void remember(Linked linked, Inode one, Inode other) {
        if (one.links() > 1 && other.links() > 1) {
            if (same.size() == LINKED_MAX) {
                same.remove(same.iterator().next());
            }
            same.add(linked);
        }
    }

    private @Nullable Found difference(Supplier<Pair> path, Inode one, Inode other)
            throws ReplayException, IOException {
        Found found = difference(ContentRule.STRICT, ROOT, one, other);
        boolean decided = found == null
                || rule.equals(ContentRule.STRICT)
                || Math.max(one.bytes(), other.bytes()) > RULED_BYTES_MAX;
        return decided ? found : difference(rule, path.get(), one, other);
    }

    private @Nullable Found difference(ContentRule how, Pair paths, Inode one, Inode other)
            throws ReplayException, IOException {
        try (InputStream expected = recorded.open(one);
                InputStream found = actual.open(other)) {
            return how.difference(paths, expected, found);
        } catch (DamagedTreeException e) {
            throw new ReplayException(
                    Code.ENGINE,
                    "a file that the recorded run or the replay left cannot be compared: " + e.getMessage(),
                    e);
        }
    }
}
