package blackbox.replay.git;

import blackbox.replay.content.ContentMatch;
import blackbox.replay.content.Origins;
import blackbox.replay.content.Window;
import blackbox.replay.content.WrittenWhen;
import blackbox.replay.git.Annotated.Line;
import blackbox.replay.git.Annotated.Stamp;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Finds out which ids stand for each other. A commit's id is a digest of all it says, also of the second in which it
/// was made, and so of its parents' ids: two executions of the same work have other ids as soon as one second differs.
///
/// One object stands for another if both are there, each named by its own digest, and they are the same but for times
/// and ids: a time is one at which its own side made that object, or was such a time in objects that stand for each
/// other before (a commit that is made again keeps its author's); an id stands for the other by the same rule, all the
/// way down. In files that a commit holds, times may stand for each other as in files that were left.
///
/// Which two are tried is found by what they say otherwise, in the order of their times; that proves nothing yet.
/// What is not proven stands for nothing. One proof by one thread.
public final class ObjectProof {
    /// Objects of one side that are looked at.
    static final int OBJECTS_MAX = 20_000;
    /// Octets that are read, each time that they are; what is kept of them is less.
    private static final long OCTETS_MAX = 512 << 20;

    /// Octets of commits and tags of one side that are kept.
    private static final long KEPT_OCTETS_MAX = 32 << 20;

    /// What a reading costs beside the object's octets, and what one costs that finds no valid object.
    private static final long READING_OCTETS = 4 << 10;

    private static final long FAILED_OCTETS = 64 << 10;
    private static final int FOLDERS_MAX = 100_000;
    private static final int ROUNDS_MAX = 64;
    private static final long SECOND_NS = 1_000_000_000;

    private final ObjectSource recorded;
    private final ObjectSource actual;
    private final IdTies ties = new IdTies();
    private int foldersLeft = FOLDERS_MAX;
    private long octetsLeft = OCTETS_MAX;

    private ObjectProof(ObjectSource recorded, ObjectSource actual) {
        this.recorded = recorded;
        this.actual = actual;
    }

    /// @param packed the object without its content
    private record Named(String id, Annotated says, GitObject packed) {
        private static final Comparator<Named> BY_TIME = Comparator.<Named>comparingLong(
                        each -> each.says().madeSeconds())
                .thenComparing(Named::id);
    }

    private record Pair(Named recorded, Named actual) {}

    /// Compares what both wrote. Reads only objects that not both have.
    public static IdTies of(ObjectSource recorded, ObjectSource actual) throws IOException {
        var proof = new ObjectProof(recorded, actual);
        Map<String, List<Named>> one = proof.only(recorded, actual);
        Map<String, List<Named>> other = one.isEmpty() ? Map.of() : proof.only(actual, recorded);
        var open = new ArrayList<Pair>();
        one.forEach((says, objects) -> {
            List<Named> others = other.getOrDefault(says, List.of());
            for (int i = 0; i < Math.min(objects.size(), others.size()); i++) {
                open.add(new Pair(objects.get(i), others.get(i)));
            }
        });
        open.sort(Comparator.comparing(Pair::recorded, Named.BY_TIME));
        proof.settle(open);
        return proof.ties;
    }

    /// Commits and tags that only one side wrote, by what they say without ids and times, each in the order of time.
    private Map<String, List<Named>> only(ObjectSource source, ObjectSource other) throws IOException {
        Map<String, List<Named>> alike = new LinkedHashMap<>();
        int count = 0;
        long keptOctets = 0;
        for (String id : source.written()) {
            if (other.written().contains(id)) {
                continue;
            }
            if (++count > OBJECTS_MAX || keptOctets > KEPT_OCTETS_MAX) {
                break;
            }
            GitObject object = read(source, id);
            Annotated says = object == null ? null : Annotated.of(object);
            if (object != null && says != null) {
                keptOctets += object.length();
                alike.computeIfAbsent(says.alike(), _ -> new ArrayList<>())
                        .add(new Named(id, says, object.withoutContent()));
            }
        }
        alike.values().forEach(each -> each.sort(Named.BY_TIME));
        return alike;
    }

    /// An object; null if it is not there, or not valid, or if a guest that left ever more of them has used up what one
    /// proof may read.
    private @Nullable GitObject read(ObjectSource source, String id) throws IOException {
        if (octetsLeft <= 0) {
            return null;
        }
        GitObject object = source.read(id);
        octetsLeft -= object == null ? FAILED_OCTETS : READING_OCTETS + object.length();
        return object;
    }

    /// Proves what can be proven: what is about others after these.
    private void settle(List<Pair> open) throws IOException {
        boolean any = true;
        for (int round = 0; any && round < ROUNDS_MAX; round++) {
            any = false;
            var left = new ArrayList<Pair>();
            for (Pair pair : open) {
                if (isSame(pair)) {
                    add(pair);
                    any = true;
                } else {
                    left.add(pair);
                }
            }
            open.clear();
            open.addAll(left);
        }
    }

    private void add(Pair pair) {
        ties.add(pair.recorded().id(), pair.actual().id());
        List<Line> lines = pair.recorded().says().header();
        List<Line> others = pair.actual().says().header();
        for (int i = 0; i < lines.size(); i++) {
            Stamp one = lines.get(i).stamp();
            Stamp other = others.get(i).stamp();
            if (one != null && other != null && one.seconds() != other.seconds()) {
                ties.addTimes(one.seconds(), other.seconds());
            }
        }
    }

    private boolean isSame(Pair pair) throws IOException {
        Annotated one = pair.recorded().says();
        Annotated other = pair.actual().says();
        if (one.header().size() != other.header().size()
                || !ties.standFor(one.message(), other.message())
                || !pair.recorded().packed().isPackedLike(pair.actual().packed())) {
            return false;
        }
        for (int i = 0; i < one.header().size(); i++) {
            if (!isSame(one.header().get(i), other.header().get(i), pair)) {
                return false;
            }
        }
        return true;
    }

    private boolean isSame(Line one, Line other, Pair pair) throws IOException {
        if (one.equals(other)) {
            return true;
        }
        Stamp was = one.stamp();
        Stamp is = other.stamp();
        if (was != null && is != null) {
            return was.who().equals(is.who()) && was.zone().equals(is.zone()) && isSame(was, is, pair);
        }
        return one.isId() && one.name().equals(other.name()) && isSameId(one.name(), one.value(), other.value(), pair);
    }

    private boolean isSameId(String name, String one, String other, Pair pair) throws IOException {
        if (one.equals(other) || ties.isPair(one, other)) {
            return true;
        }
        return name.equals("tree") && new Trees(pair).isSame(one, other);
    }

    private boolean isSame(Stamp was, Stamp is, Pair pair) {
        return was.seconds() == is.seconds()
                || ties.isSameSecond(was.seconds(), is.seconds())
                || isOf(recorded.made(pair.recorded().id()), was)
                        && isOf(actual.made(pair.actual().id()), is);
    }

    private static boolean isOf(List<Window> made, Stamp stamp) {
        return made.stream().anyMatch(window -> window.has(stamp.seconds() * SECOND_NS, SECOND_NS));
    }

    /// Two commits' trees, which hold files in which times differ.
    private final class Trees {
        private final Pair commits;
        private final Map<String, String> found = new HashMap<>();
        private final Deque<Folders> folders = new ArrayDeque<>();

        Trees(Pair commits) {
            this.commits = commits;
        }

        /// Two trees.
        ///
        /// @param path from the top, empty or with a slash at its end
        private record Folders(String recorded, String actual, String path) {}

        /// Whether both hold the same names with the same modes, and files that are the same but for times.
        boolean isSame(String one, String other) throws IOException {
            folders.add(new Folders(one, other, ""));
            while (!folders.isEmpty() && --foldersLeft > 0) {
                Folders here = folders.remove();
                if (!isSame(here)) {
                    return false;
                }
                found.put(here.recorded(), here.actual());
            }
            if (folders.isEmpty()) {
                found.forEach(ties::add);
                return true;
            }
            return false;
        }

        private boolean isSame(Folders here) throws IOException {
            List<TreeEntry> one = entries(recorded, here.recorded());
            List<TreeEntry> other = entries(actual, here.actual());
            if (one == null || other == null || one.size() != other.size()) {
                return false;
            }
            for (int i = 0; i < one.size(); i++) {
                if (!isSame(one.get(i), other.get(i), here.path())) {
                    return false;
                }
            }
            return true;
        }

        private @Nullable List<TreeEntry> entries(ObjectSource source, String id) throws IOException {
            GitObject object = read(source, id);
            return object == null || object.type() != GitObject.Type.TREE ? null : TreeEntry.of(object);
        }

        private boolean isSame(TreeEntry one, TreeEntry other, String above) throws IOException {
            if (!one.name().equals(other.name()) || !one.mode().equals(other.mode())) {
                return false;
            }
            String known = found.get(one.id());
            if (one.id().equals(other.id())
                    || ties.isPair(one.id(), other.id())
                    || other.id().equals(known)) {
                return true;
            }
            if (known != null) {
                return false;
            }
            String path = above + one.name();
            if (one.isFolder()) {
                folders.add(new Folders(one.id(), other.id(), path + '/'));
                return true;
            }
            return one.isFile() && isSameFile(one.id(), other.id(), path);
        }

        private boolean isSameFile(String one, String other, String path) throws IOException {
            GitObject was = read(recorded, one);
            GitObject is = read(actual, other);
            if (was == null || is == null || was.type() != GitObject.Type.BLOB || is.type() != was.type()) {
                return false;
            }
            var origins = new Origins(
                    written(recorded.fileWritten(commits.recorded().id(), path)),
                    written(actual.fileWritten(commits.actual().id(), path)),
                    ties);
            boolean same = was.isPackedLike(is)
                    && ContentMatch.of(was.stream(), is.stream(), origins).difference() == null;
            if (same) {
                found.put(one, other);
            }
            return same;
        }

        private static WrittenWhen written(@Nullable Window window) {
            return window == null ? WrittenWhen.UNKNOWN : _ -> window;
        }
    }
}
