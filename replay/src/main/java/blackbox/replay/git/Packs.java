package blackbox.replay.git;

import blackbox.schemas.row.Text;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;

/// The packs that one side wrote while it ran and has left, and its commit graphs. A pack counts if it is whole
/// ([PackFile]) and its `.idx`, and its `.rev` if there is one, are what they must be for it. Owned by one thread.
///
/// Memory: a pack and [#OCTETS_MAX], what [PackWork] keeps, and some hundred octets for each of [#OBJECTS_MAX] objects,
/// about 130 MiB. Further packs are not known.
public final class Packs {
    static final int PACKS_MAX = 64;
    static final int GRAPHS_MAX = 16;
    /// Octets of packs that are held at once, and the objects in them.
    private static final long OCTETS_MAX = 48 << 20;

    private static final int OBJECTS_MAX = 40_000;

    private static final Pattern PACK = Pattern.compile("(.*/objects/pack/pack-([0-9a-f]{40}))\\.(pack|idx|rev)");
    private static final String GRAPH = "info/commit-graph";

    private final Files files;
    private final PackWork work;
    private final Map<String, PackFile> packs = new LinkedHashMap<>();
    private final Set<String> stems = new HashSet<>();
    private final Map<Text, Graph> graphs = new LinkedHashMap<>();
    private long octets;
    private int objects;

    /// One side's files, as they are in the end.
    @FunctionalInterface
    public interface Files {
        /// A file's content, which the caller closes; null if there is none.
        @Nullable
        InputStream open(Text path) throws IOException;
    }

    /// Finds an object of the same side by its id.
    @FunctionalInterface
    public interface Objects {
        @Nullable
        GitObject read(String id) throws IOException;
    }

    private Packs(Files files, PackWork work) {
        this.files = files;
        this.work = work;
    }

    /// Reads packs.
    ///
    /// @param paths of files that may be packs; of others nothing is known
    public static Packs of(Collection<Text> paths, Files files) throws IOException {
        return of(paths, files, PackWork.OCTETS_MAX);
    }

    static Packs of(Collection<Text> paths, Files files, long workMax) throws IOException {
        var packs = new Packs(files, new PackWork(workMax));
        for (Text path : paths.stream().limit(PACKS_MAX).toList()) {
            packs.add(path);
        }
        return packs;
    }

    private void add(Text path) throws IOException {
        Matcher name = PACK.matcher(path.toString());
        byte[] pack = name.matches() && name.group(3).equals("pack") ? octets(path, PackFile.OCTETS_MAX) : null;
        if (pack == null || octets + pack.length > OCTETS_MAX) {
            return;
        }
        String id = name.group(2);
        PackFile known = packs.get(id);
        PackFile whole = known == null ? PackFile.of(pack, id, work) : known;
        boolean fits = known != null || whole != null && objects + whole.ids().size() <= OBJECTS_MAX;
        if (whole == null || !fits || !whole.hasOctets(pack) || !isIndexed(name.group(1), whole)) {
            return;
        }
        stems.add(name.group(1));
        if (known == null) {
            packs.put(id, whole);
            octets += pack.length;
            objects += whole.ids().size();
        }
    }

    private boolean isIndexed(String stem, PackFile pack) throws IOException {
        byte[] index = PackIndex.index(pack);
        byte[] reverse = PackIndex.reverse(pack);
        byte[] left = octets(Text.of(stem + ".rev"), reverse.length);
        return Arrays.equals(index, octets(Text.of(stem + ".idx"), index.length))
                && (left == null || Arrays.equals(reverse, left));
    }

    /// A file's octets, or one more than `max`; null if there is none.
    private byte @Nullable [] octets(Text path, int max) throws IOException {
        try (InputStream in = files.open(path)) {
            return in == null ? null : in.readNBytes(max + 1);
        }
    }

    /// Reads the commit graphs of repositories.
    ///
    /// @param folders of objects, such as `/a/.git/objects/`
    /// @param objects what this side has, also outside of packs
    public void readGraphs(Collection<Text> folders, Objects objects) throws IOException {
        for (Text folder : folders.stream().limit(GRAPHS_MAX).toList()) {
            Text path = Text.of(folder + GRAPH);
            try (InputStream in = files.open(path)) {
                CommitGraph graph = in == null ? null : CommitGraph.read(in, id -> paid(objects.read(id)));
                if (graph != null) {
                    graphs.put(path, new Graph(Set.copyOf(graph.ids()), graph.bytes()));
                }
            }
        }
    }

    /// The object, unless what all may cost is used up.
    private @Nullable GitObject paid(@Nullable GitObject object) {
        try {
            work.spend(object == null ? 0 : object.length());
            return object;
        } catch (DataFormatException e) {
            return null;
        }
    }

    /// An object; null if it is in none of the packs, or if what they may cost is used up.
    public @Nullable GitObject read(String id) {
        for (PackFile pack : packs.values()) {
            GitObject object = pack.read(id);
            if (object != null) {
                return object;
            }
        }
        return null;
    }

    /// What is known of them, without their octets.
    Known known() {
        var objects = new LinkedHashMap<String, Set<String>>();
        packs.forEach((id, pack) -> objects.put(id, Set.copyOf(pack.ids())));
        return new Known(objects, Set.copyOf(stems), Map.copyOf(graphs));
    }

    /// A commit graph.
    ///
    /// @param commits their ids
    /// @param bytes length of the file, which tells with as many commits what it says of each
    record Graph(Set<String> commits, int bytes) {}

    /// One side's packs and commit graphs.
    ///
    /// @param objects ids of all that a pack holds, by its own id, in the order in which they were written
    /// @param stems paths of packs and their indexes, without what is behind the id
    /// @param graphs by their paths
    record Known(Map<String, Set<String>> objects, Set<String> stems, Map<Text, Graph> graphs) {
        static final Known NOTHING = new Known(Map.of(), Set.of(), Map.of());
    }
}
