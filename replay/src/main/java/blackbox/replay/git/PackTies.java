package blackbox.replay.git;

import blackbox.replay.git.Packs.Graph;
import blackbox.replay.git.Packs.Known;
import blackbox.schemas.row.Text;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Packs that stand for each other: both hold the same objects, or such as stand for each other ([IdTies]), each once.
/// In what order, made from which others and how compressed is not compared: git's threads share that work out as time
/// goes. Two commit graphs stand for each other if the same is true of their commits. Immutable.
public final class PackTies {
    /// No pack stands for another.
    public static final PackTies NONE = new PackTies(IdTies.NONE, Known.NOTHING, Known.NOTHING);

    private static final Pattern FILE = Pattern.compile("(.*/objects/pack/pack-([0-9a-f]{40}))(\\.[a-z]+)");
    private static final Set<String> UNDERSTOOD = Set.of(".pack", ".idx", ".rev");

    private final IdTies ids;
    private final Known recorded;
    private final Known actual;
    private final Map<String, String> actualOf = new LinkedHashMap<>();

    private PackTies(IdTies ids, Known recorded, Known actual) {
        this.ids = ids;
        this.recorded = recorded;
        this.actual = actual;
    }

    /// Finds out which packs stand for each other, and adds their ids to those of the objects.
    ///
    /// @param ids of all objects that do
    public static PackTies of(Packs recorded, Packs actual, IdTies ids) {
        var ties = new PackTies(ids, recorded.known(), actual.known());
        ties.pair();
        return ties;
    }

    private void pair() {
        var free = new LinkedHashMap<>(actual.objects());
        free.keySet().removeAll(recorded.objects().keySet());
        recorded.objects().forEach((pack, objects) -> {
            for (Map.Entry<String, Set<String>> other : free.entrySet()) {
                if (!actual.objects().containsKey(pack) && standFor(objects, other.getValue())) {
                    actualOf.put(pack, other.getKey());
                    ids.addPack(pack, other.getKey());
                    free.remove(other.getKey());
                    return;
                }
            }
        });
    }

    /// Whether each of these stands for one of the others, and none of those is left.
    private boolean standFor(Set<String> objects, Set<String> others) {
        if (objects.size() != others.size()) {
            return false;
        }
        var found = new HashSet<String>();
        for (String id : objects) {
            String other = others.contains(id) ? id : ids.objects().get(id);
            if (other == null || !others.contains(other) || !found.add(other)) {
                return false;
            }
        }
        return true;
    }

    /// How many packs stand for others.
    public int count() {
        return actualOf.size();
    }

    /// How many objects they hold.
    public long objects() {
        return actualOf.keySet().stream()
                .mapToLong(
                        pack -> recorded.objects().getOrDefault(pack, Set.of()).size())
                .sum();
    }

    /// Whether two files are called after packs that stand for each other.
    public boolean standFor(Text recordedPath, Text actualPath) {
        if (actualOf.isEmpty()) {
            return false;
        }
        Matcher one = FILE.matcher(recordedPath.toString());
        Matcher other = FILE.matcher(actualPath.toString());
        return one.matches()
                && other.matches()
                && one.group(3).equals(other.group(3))
                && other.group(2).equals(actualOf.get(one.group(2)));
    }

    /// Whether a file of that name may be in [#areSame].
    public boolean mayBeSame(Text recordedName) {
        String name = recordedName.toString();
        return !actualOf.isEmpty() && name.startsWith("pack-")
                || !recorded.graphs().isEmpty() && name.equals("commit-graph");
    }

    /// Whether two files are packs, indexes of packs or commit graphs that stand for each other, though their octets
    /// differ.
    public boolean areSame(Text recordedPath, Text actualPath) {
        Graph graph = recorded.graphs().get(recordedPath);
        Graph other = actual.graphs().get(actualPath);
        if (graph != null && other != null) {
            return graph.bytes() == other.bytes() && standFor(graph.commits(), other.commits());
        }
        return standFor(recordedPath, actualPath)
                && isUnderstood(recordedPath, recorded)
                && isUnderstood(actualPath, actual);
    }

    private static boolean isUnderstood(Text path, Known side) {
        Matcher file = FILE.matcher(path.toString());
        return file.matches()
                && UNDERSTOOD.contains(file.group(3))
                && side.stems().contains(file.group(1));
    }
}
