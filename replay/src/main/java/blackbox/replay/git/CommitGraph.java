package blackbox.replay.git;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A commit graph (`gitformat-commit-graph`, version 1 with SHA-1), in which git keeps what it would else look up
/// in each commit: tree, parents, time and how far it is from the first ones. All of it follows from the commits: a
/// file is compared with what git 2.39 writes for them. One with Bloom filters, in several files, or with commits
/// of more than two parents is not understood.
final class CommitGraph {
    static final int COMMITS_MAX = 20_000;

    private static final int SIGNATURE = 0x43475048; // CGPH
    private static final int FAN = 0x4f494446; // OIDF
    private static final int IDS = 0x4f49444c; // OIDL
    private static final int DATA = 0x43444154; // CDAT
    private static final int DATES = 0x47444132; // GDA2
    private static final int NO_PARENT = 0x70000000;
    private static final long DATE_MAX = (1L << 34) - 1;
    private static final int HEADER_BYTES = 8;
    private static final int CHUNK_BYTES = 12;
    private static final int FAN_BYTES = 4 * 256;
    private static final int DIGEST_BYTES = 20;
    private static final int DATA_BYTES = DIGEST_BYTES + 16;
    private static final int CHUNKS_MAX = 4;
    private static final int OCTETS_MAX = HEADER_BYTES
            + (CHUNKS_MAX + 1) * CHUNK_BYTES
            + FAN_BYTES
            + COMMITS_MAX * (DIGEST_BYTES + DATA_BYTES + 4)
            + DIGEST_BYTES;

    private final SortedMap<String, Commit> commits = new TreeMap<>();

    private final int bytes;

    private CommitGraph(int bytes) {
        this.bytes = bytes;
    }

    /// A commit.
    private static final class Commit {
        private final String id;
        private final String tree;
        private final List<String> parents;
        private final long seconds;
        private int place;
        /// How many commits are on the longest way to a first one, with both ends.
        private int level;
        /// Its time, or a second more than the latest of its parents.
        private long corrected;

        private Commit(String id, String tree, List<String> parents, long seconds) {
            this.id = id;
            this.tree = tree;
            this.parents = parents;
            this.seconds = seconds;
        }

        /// Null if it is none, or has more parents than are understood.
        private static @Nullable Commit of(String id, @Nullable GitObject object) {
            Annotated says = object == null || object.type() != GitObject.Type.COMMIT ? null : Annotated.of(object);
            if (says == null) {
                return null;
            }
            String tree = null;
            List<String> parents = new ArrayList<>();
            long seconds = -1;
            for (Annotated.Line line : says.header()) {
                Annotated.Stamp stamp = line.stamp();
                switch (line.name()) {
                    case "tree" -> tree = line.value();
                    case "parent" -> parents.add(line.value());
                    case "committer" -> seconds = stamp == null ? -1 : stamp.seconds();
                    default -> {}
                }
            }
            boolean understood = tree != null
                    && tree.matches("[0-9a-f]{" + IdTies.ID_LETTERS + "}")
                    && parents.size() <= 2
                    && seconds >= 0
                    && seconds <= DATE_MAX;
            return understood ? new Commit(id, Objects.requireNonNull(tree), parents, seconds) : null;
        }
    }

    /// Reads one.
    ///
    /// @return null if it is not what git writes for commits that are all there
    static @Nullable CommitGraph read(InputStream in, Packs.Objects objects) throws IOException {
        byte[] octets = in.readNBytes(OCTETS_MAX + 1);
        List<String> ids = octets.length > OCTETS_MAX ? List.of() : ids(octets);
        var graph = new CommitGraph(octets.length);
        for (String id : ids) {
            Commit commit = Commit.of(id, objects.read(id));
            if (commit == null) {
                return null;
            }
            graph.commits.put(id, commit);
        }
        boolean isRight = !ids.isEmpty()
                && graph.isLevelled()
                && (Arrays.equals(octets, graph.octets(true)) || Arrays.equals(octets, graph.octets(false)));
        return isRight ? graph : null;
    }

    /// Ids of its commits.
    Set<String> ids() {
        return Collections.unmodifiableSet(commits.keySet());
    }

    /// Length of the file.
    int bytes() {
        return bytes;
    }

    /// The ids in a file that has the right length; else empty.
    private static List<String> ids(byte[] octets) {
        int chunks = octets.length < HEADER_BYTES ? 0 : octets[6];
        int fan = HEADER_BYTES + (chunks + 1) * CHUNK_BYTES;
        if (chunks < CHUNKS_MAX - 1 || chunks > CHUNKS_MAX || octets.length < fan + FAN_BYTES) {
            return List.of();
        }
        int count = ByteBuffer.wrap(octets).getInt(fan + FAN_BYTES - 4);
        int each = DIGEST_BYTES + DATA_BYTES + (chunks == CHUNKS_MAX ? 4 : 0);
        if (count < 1 || count > COMMITS_MAX || octets.length != fan + FAN_BYTES + count * each + DIGEST_BYTES) {
            return List.of();
        }
        var ids = new ArrayList<String>(count);
        for (int i = 0; i < count; i++) {
            int at = fan + FAN_BYTES + i * DIGEST_BYTES;
            ids.add(HexFormat.of().formatHex(octets, at, at + DIGEST_BYTES));
        }
        return ids;
    }

    /// Works out places, levels and corrected times; false if a parent is not there.
    private boolean isLevelled() {
        Map<String, List<Commit>> children = new HashMap<>();
        Map<String, Integer> missing = new HashMap<>();
        Deque<Commit> next = new ArrayDeque<>();
        int place = 0;
        for (Commit commit : commits.values()) {
            commit.place = place++;
            missing.put(commit.id, commit.parents.size());
            commit.parents.forEach(parent ->
                    children.computeIfAbsent(parent, _ -> new ArrayList<>()).add(commit));
            if (commit.parents.isEmpty()) {
                next.add(commit);
            }
        }
        int known = 0;
        for (; !next.isEmpty(); known++) {
            Commit commit = next.remove();
            level(commit);
            for (Commit child : children.getOrDefault(commit.id, List.of())) {
                if (missing.merge(child.id, -1, Integer::sum) == 0) {
                    next.add(child);
                }
            }
        }
        return known == commits.size();
    }

    private void level(Commit commit) {
        commit.level = 1;
        commit.corrected = Math.max(commit.seconds, 1);
        for (String id : commit.parents) {
            Commit parent = Objects.requireNonNull(commits.get(id));
            commit.level = Math.max(commit.level, parent.level + 1);
            commit.corrected = Math.max(commit.corrected, parent.corrected + 1);
        }
    }

    /// The file that git writes for them.
    ///
    /// @param dated with corrected times, which git adds unless it is told not to
    private byte[] octets(boolean dated) {
        int count = commits.size();
        int[] names = dated ? new int[] {FAN, IDS, DATA, DATES} : new int[] {FAN, IDS, DATA};
        int[] bytes = {FAN_BYTES, count * DIGEST_BYTES, count * DATA_BYTES, count * 4};
        int at = HEADER_BYTES + (names.length + 1) * CHUNK_BYTES;
        int all = at + DIGEST_BYTES;
        for (int i = 0; i < names.length; i++) {
            all += bytes[i];
        }
        ByteBuffer out = ByteBuffer.allocate(all).putInt(SIGNATURE).put(new byte[] {1, 1, (byte) names.length, 0});
        for (int i = 0; i < names.length; i++) {
            out.putInt(names[i]).putLong(at);
            at += bytes[i];
        }
        out.putInt(0).putLong(at);
        PackIndex.putFan(out, commits.keySet());
        commits.keySet().forEach(id -> out.put(HexFormat.of().parseHex(id)));
        commits.values().forEach(commit -> put(out, commit));
        if (dated) {
            commits.values().forEach(commit -> out.putInt((int) (commit.corrected - commit.seconds)));
        }
        return PackIndex.signed(out);
    }

    private void put(ByteBuffer out, Commit commit) {
        out.put(HexFormat.of().parseHex(commit.tree));
        for (int i = 0; i < 2; i++) {
            boolean has = i < commit.parents.size();
            out.putInt(has ? Objects.requireNonNull(commits.get(commit.parents.get(i))).place : NO_PARENT);
        }
        out.putInt(commit.level << 2 | (int) (commit.seconds >> 32)).putInt((int) commit.seconds);
    }
}
