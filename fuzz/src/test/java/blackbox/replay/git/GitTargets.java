package blackbox.replay.git;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.fuzz.FuzzTarget;
import blackbox.fuzz.Repository;
import blackbox.replay.content.ContentMatch;
import blackbox.replay.content.Window;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;

/// Git's files of a guest, which a replay compares by what they say. Digests, which anyone can make, are not part of an
/// input but made for it.
public final class GitTargets {
    private static final Window RUN = new Window(1_700_000_000_000_000_000L, 1_700_000_060_000_000_000L);
    private static final int DIGEST_BYTES = 20;
    /// All objects of the repository, once it was made.
    private static final Map<String, GitObject> OBJECTS = new HashMap<>();

    private GitTargets() {}

    /// The targets.
    public static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of("git-object", 2 << 10, GitTargets::object, GitTargets::objects),
                FuzzTarget.of("git-index", 4 << 10, GitTargets::index, GitTargets::indexes),
                FuzzTarget.of("git-pack", 4 << 10, GitTargets::pack, GitTargets::packs),
                FuzzTarget.of("git-graph", 4 << 10, GitTargets::graph, GitTargets::graphs));
    }

    private static String hex(byte[] octets) {
        return HexFormat.of().formatHex(octets);
    }

    private static byte[] withDigest(byte[] octets) {
        byte[] whole = Arrays.copyOf(octets, octets.length + DIGEST_BYTES);
        System.arraycopy(GitDigest.sha1(octets, octets.length), 0, whole, octets.length, DIGEST_BYTES);
        return whole;
    }

    /// A loose object before it is compressed.
    private static boolean object(byte[] octets) throws IOException {
        var out = new ByteArrayOutputStream();
        try (var zlib = new DeflaterOutputStream(out)) {
            zlib.write(octets);
        }
        String id = hex(GitDigest.sha1(octets, octets.length));
        GitObject object = GitObject.read(new ByteArrayInputStream(out.toByteArray()), id);
        if (object == null) {
            return false;
        }
        ensure(object.id().equals(id), "an object has another name than it was read by");
        Annotated annotated = Annotated.of(object);
        ensure(annotated == null || !annotated.alike().isEmpty(), "what it says has no digest");
        List<TreeEntry> entries = TreeEntry.of(object);
        ensure(entries == null || entries.stream().allMatch(entry -> entry.id().length() == 40), "an id is cut");
        return true;
    }

    private static Map<String, byte[]> objects() throws Exception {
        try (Repository repository = Repository.make()) {
            var seeds = new TreeMap<String, byte[]>();
            for (Path file : repository.files(".git/objects/??/*")) {
                try (var zlib = new InflaterInputStream(Files.newInputStream(file))) {
                    seeds.put(String.valueOf(file.getFileName()).substring(0, 8), zlib.readAllBytes());
                }
            }
            return seeds;
        }
    }

    private static boolean index(byte[] octets) throws IOException {
        byte[] whole = withDigest(octets);
        ContentMatch self = GitIndex.compare(
                new ByteArrayInputStream(whole), RUN, new ByteArrayInputStream(whole), RUN, IdTies.NONE);
        ensure(self.difference() == null, "an index differs from itself");
        return octets.length > 0;
    }

    private static Map<String, byte[]> indexes() throws Exception {
        try (Repository repository = Repository.make()) {
            return Map.of("three-files", withoutDigest(repository.file(".git/index")));
        }
    }

    private static boolean pack(byte[] octets) {
        byte[] whole = withDigest(octets);
        String name = hex(GitDigest.sha1(octets, octets.length));
        PackFile pack = PackFile.of(whole, name, new PackWork(16 << 20));
        if (pack == null) {
            return false;
        }
        for (String id : pack.ids()) {
            GitObject object = pack.read(id);
            ensure(object == null || object.id().equals(id), "an object has another name than it is found by");
        }
        ensure(PackIndex.index(pack).length > 0 && PackIndex.reverse(pack).length > 0, "a pack without an index");
        return true;
    }

    private static Map<String, byte[]> packs() throws Exception {
        try (Repository repository = Repository.make()) {
            repository.git("repack", "-adq");
            return Map.of(
                    "repacked",
                    withoutDigest(repository.files(".git/objects/pack/*.pack").getFirst()));
        }
    }

    /// A graph of the commits of that repository.
    private static boolean graph(byte[] octets) throws Exception {
        Map<String, GitObject> known = known();
        CommitGraph graph = CommitGraph.read(new ByteArrayInputStream(withDigest(octets)), known::get);
        ensure(graph == null || graph.bytes() == octets.length + DIGEST_BYTES, "a graph has another length");
        ensure(graph == null || known.keySet().containsAll(graph.ids()), "a graph has a commit that nobody knows");
        return graph != null;
    }

    private static Map<String, GitObject> known() throws Exception {
        if (OBJECTS.isEmpty()) {
            try (Repository repository = Repository.make()) {
                for (Path file : repository.files(".git/objects/??/*")) {
                    String path = file.toString().replace("/", "");
                    String id = path.substring(path.length() - 2 * DIGEST_BYTES);
                    try (var loose = Files.newInputStream(file)) {
                        OBJECTS.put(id, Objects.requireNonNull(GitObject.read(loose, id)));
                    }
                }
            }
        }
        return OBJECTS;
    }

    private static Map<String, byte[]> graphs() throws Exception {
        try (Repository repository = Repository.make()) {
            repository.git("commit-graph", "write", "--reachable", "--no-progress");
            return Map.of("two-commits", withoutDigest(repository.file(".git/objects/info/commit-graph")));
        }
    }

    private static byte[] withoutDigest(Path file) throws IOException {
        byte[] whole = Files.readAllBytes(file);
        return Arrays.copyOf(whole, whole.length - DIGEST_BYTES);
    }
}
