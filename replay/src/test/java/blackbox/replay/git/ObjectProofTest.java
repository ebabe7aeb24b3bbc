package blackbox.replay.git;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.content.Window;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Objects that were made in another second stand for each other, and nothing else does.
class ObjectProofTest {
    private static final long SECOND = 1_000_000_000;
    private static final long A = 1_795_611_318;
    private static final long B = 1_795_615_555;

    /// Objects of one side, each in a file as git makes it, and when they were made.
    private static final class Store implements ObjectSource {
        private final Map<String, byte[]> files = new LinkedHashMap<>();
        private final Map<String, Long> made = new LinkedHashMap<>();
        private final long start;
        private long now;

        Store(long start) {
            this.start = start;
            this.now = start;
        }

        String put(String type, String content) throws Exception {
            return put(type, content, Deflater.BEST_SPEED);
        }

        String put(String type, String content, int level) throws Exception {
            byte[] octets = (type + ' ' + content.length() + '\0' + content).getBytes(StandardCharsets.ISO_8859_1);
            String id =
                    HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(octets));
            var file = new ByteArrayOutputStream();
            try (var out = new DeflaterOutputStream(file, new Deflater(level))) {
                out.write(octets);
            }
            files.put(id, file.toByteArray());
            made.put(id, now);
            return id;
        }

        String tree(String... entries) throws Exception {
            var all = new StringBuilder();
            for (int i = 0; i < entries.length; i += 2) {
                all.append(entries[i]).append('\0');
                all.append(new String(HexFormat.of().parseHex(entries[i + 1]), StandardCharsets.ISO_8859_1));
            }
            return put("tree", all.toString());
        }

        /// A commit of now.
        String commit(String tree, String message, String... parents) throws Exception {
            return commit(tree, message, now, now, parents);
        }

        String commit(String tree, String message, long authored, long committed, String... parents) throws Exception {
            return put("commit", text(tree, message, authored, committed, parents));
        }

        static String text(String tree, String message, long authored, long committed, String... parents) {
            var text = new StringBuilder("tree " + tree + '\n');
            for (String parent : parents) {
                text.append("parent ").append(parent).append('\n');
            }
            return text.append("author A <a@x> " + authored + " +0100\ncommitter C <c@x> " + committed + " +0000\n\n")
                    .append(message)
                    .append('\n')
                    .toString();
        }

        void sleep(long seconds) {
            now += seconds;
        }

        /// The file of an object.
        byte[] file(String id) {
            return Objects.requireNonNull(files.get(id));
        }

        @Override
        public Set<String> written() {
            return files.keySet();
        }

        @Override
        public List<Window> made(String id) {
            Long at = made.get(id);
            return at == null ? List.of() : List.of(new Window(at * SECOND, at * SECOND));
        }

        @Override
        public @Nullable Window fileWritten(String commit, String path) {
            return path.endsWith("built") ? new Window(start * SECOND, now * SECOND) : null;
        }

        @Override
        public @Nullable GitObject read(String id) throws IOException {
            byte[] file = files.get(id);
            return file == null ? null : GitObject.read(new ByteArrayInputStream(file), id);
        }
    }

    /// What a side does; returns the ids that it is about.
    @FunctionalInterface
    private interface Work {
        List<String> on(Store store) throws Exception;
    }

    private record Compared(IdTies ties, List<String> recorded, List<String> actual) {

        void isSame() {
            for (int i = 0; i < recorded.size(); i++) {
                assertEquals(actual.get(i), ties.pairs().get(recorded.get(i)), "object " + i);
            }
        }

        /// That from this object on nothing stands for anything.
        void isOther(int from) {
            for (int i = 0; i < recorded.size(); i++) {
                assertEquals(i < from, ties.pairs().containsKey(recorded.get(i)), "object " + i);
            }
        }
    }

    private static Compared compare(Work recorded, Work actual) throws Exception {
        var one = new Store(A);
        var other = new Store(B);
        List<String> ids = recorded.on(one);
        List<String> others = actual.on(other);
        return new Compared(ObjectProof.of(one, other), ids, others);
    }

    private static Compared compare(Work work) throws Exception {
        return compare(work, work);
    }

    private static String file(Store store) throws Exception {
        return store.tree("100644 a.txt", store.put("blob", "the same\n"));
    }

    /// Three commits, a merge, and a tag, seconds apart.
    private static final Work HISTORY = store -> {
        String tree = file(store);
        String first = store.commit(tree, "first");
        store.sleep(2);
        String second = store.commit(tree, "second", first);
        store.sleep(3);
        String topic = store.commit(tree, "wip", first);
        String merge = store.commit(tree, "Merge commit '" + topic.substring(0, 10) + "'", second, topic);
        String tag = store.put(
                "tag", "object " + merge + "\ntype commit\ntag v1\ntagger C <c@x> " + store.now + " +0000\n\nv1\n");
        return List.of(first, second, topic, merge, tag);
    };

    @Test
    void aHistoryOfAnotherSecondIsTheSame() throws Exception {
        Compared compared = compare(HISTORY);
        compared.isSame();
        assertEquals(5, compared.ties().pairs().size());
        assertTrue(compared.ties().isSameSecond(A + 2, B + 2));
        assertFalse(compared.ties().isSameSecond(A + 2, B + 3));
        assertFalse(compared.ties().isSameSecond(A + 1, B + 1), "nothing was made then");
    }

    @Test
    void wordsStandForEachOtherAsPartsOfIds() throws Exception {
        Compared compared = compare(HISTORY);
        IdTies ties = compared.ties();
        String one = compared.recorded().getFirst();
        String other = compared.actual().getFirst();
        String second = compared.actual().get(1);
        assertTrue(ties.standFor(one, other));
        assertTrue(ties.standFor(
                one.substring(0, 7) + ".." + compared.recorded().get(1), other.substring(0, 7) + ".." + second));
        assertTrue(ties.standFor("v1-" + one.substring(0, 12), "v1-" + other.substring(0, 12)));
        assertFalse(ties.standFor(one, second));
        assertFalse(ties.standFor(one.substring(0, 7), second.substring(0, 7)));
        assertFalse(ties.standFor(one.substring(0, 7), other.substring(0, 8)));
        assertFalse(ties.standFor(one.substring(0, 6), other.substring(0, 6)), "too short to be an id");
        assertFalse(ties.standFor("v1-" + one, "v2-" + other));
        assertFalse(ties.standFor("x" + one, "x" + other), "within a word");
        assertFalse(ties.standFor(one.substring(1, 12), other.substring(1, 12)), "not from the beginning");
        assertEquals(
                other.substring(0, 2) + '/' + other.substring(2),
                ties.sameFile(one.substring(0, 2) + '/' + one.substring(2)));
        assertNull(ties.sameFile("no/object"));
    }

    @Test
    void whatElseACommitSaysCounts() throws Exception {
        List<UnaryOperator<String>> changes = List.of(
                text -> text.replace("A <a@x>", "B <a@x>"),
                text -> text.replace("C <c@x>", "C <b@x>"),
                text -> text.replace("+0100", "+0200"),
                text -> text.replace("a message", "another message"),
                text -> text.replace("a message", "a message "),
                text -> text.replace("\n\n", "\nencoding latin1\n\n"),
                text -> text.replaceFirst("parent .*\n", ""),
                text -> text.replaceFirst("(parent .*\n)", "$1$1"),
                text -> text.replaceFirst("parent [0-9a-f]{40}", "parent " + "0".repeat(40)),
                text -> text.replace("author", "Author"));
        Work right = store -> work(store, text -> text);
        compare(right).isSame();
        for (UnaryOperator<String> change : changes) {
            compare(right, store -> work(store, change)).isOther(1);
        }
    }

    /// A commit, one after it that is changed, and one after that.
    private static List<String> work(Store store, UnaryOperator<String> change) throws Exception {
        String tree = file(store);
        String first = store.commit(tree, "first");
        String second = store.put("commit", change.apply(Store.text(tree, "a message", store.now, store.now, first)));
        store.sleep(1);
        return List.of(first, second, store.commit(tree, "after it", second));
    }

    @Test
    void aTimeIsFromWhenItWasMade() throws Exception {
        Work right = store -> List.of(store.commit(file(store), "x", store.now - 1, store.now + 1));
        compare(right).isSame();
        for (int[] wrong : new int[][] {{-2, 0}, {0, -2}, {2, 0}, {0, 2}, {3600, 3600}}) {
            Work other = store -> List.of(store.commit(file(store), "x", store.now + wrong[0], store.now + wrong[1]));
            compare(right, other).isOther(0);
            compare(other, right).isOther(0);
        }
        Work fixed = store -> List.of(store.commit(file(store), "x", 1_600_000_000, store.now));
        compare(fixed).isSame(); // what both say need not be from then
        compare(fixed, right).isOther(0);
    }

    @Test
    void aCommitThatIsMadeAgainKeepsTheTimeOfItsAuthor() throws Exception {
        Work amend = store -> {
            String tree = file(store);
            String first = store.commit(tree, "x");
            long authored = store.now;
            store.sleep(100);
            return List.of(first, store.commit(tree, "better", authored, store.now));
        };
        compare(amend).isSame();
        Work wrong = store -> {
            String tree = file(store);
            String first = store.commit(tree, "x");
            store.sleep(100);
            return List.of(first, store.commit(tree, "better", store.now - 99, store.now));
        };
        compare(amend, wrong).isOther(1);
    }

    /// A tree with a file in a folder that holds these octets.
    private static List<String> committed(Store store, String mode, String name, String content) throws Exception {
        String blob = store.put("blob", content);
        String folder = store.tree(mode + " " + name, blob);
        String tree = store.tree("100644 a", store.put("blob", "same"), "40000 d", folder);
        return List.of(store.commit(tree, "x"), tree, folder, blob);
    }

    @Test
    void filesInACommitAreTheSameButForTimes() throws Exception {
        Work right = store -> committed(store, "100644", "built", "built at " + store.now + "\n");
        compare(right).isSame();
        List<Work> others = List.of(
                store -> committed(store, "100644", "built", "built at " + (store.now + 9) + "\n"),
                store -> committed(store, "100644", "built", "BUILT at " + store.now + "\n"),
                store -> committed(store, "100755", "built", "built at " + store.now + "\n"),
                store -> committed(store, "120000", "built", "built at " + store.now + "\n"),
                store -> committed(store, "100644", "built2", "built at " + store.now + "\n"));
        for (Work other : others) {
            compare(right, other).isOther(0);
        }
        Work unknown = store -> committed(store, "100644", "elsewhere", "built at " + store.now + "\n");
        compare(unknown).isOther(0);
    }

    @Test
    void theSameMessageTwiceIsPairedInOrder() throws Exception {
        compare(store -> {
                    var ids = new ArrayList<String>();
                    String tree = file(store);
                    for (int i = 0; i < 5; i++) {
                        ids.add(store.commit(tree, "wip"));
                        store.sleep(4);
                    }
                    return ids;
                })
                .isSame();
    }

    @Test
    void aMessageMayNameOnlyWhatStandsForIt() throws Exception {
        compare(store -> reverting(store, 0)).isSame();
        compare(store -> reverting(store, 0), store -> reverting(store, 1)).isOther(2);
    }

    private static List<String> reverting(Store store, int which) throws Exception {
        String tree = file(store);
        String first = store.commit(tree, "first");
        String second = store.commit(tree, "second", first);
        String named = which == 0 ? first : second;
        return List.of(first, second, store.commit(tree, "This reverts commit " + named + ".", second));
    }

    @Test
    void anObjectIsWhatItsNameSaysAndNothingMore() throws Exception {
        var store = new Store(A);
        String id = store.put("blob", "x".repeat(3_000));
        byte[] file = store.file(id);
        assertNotNull(read(file, id));
        assertNull(read(file, id.replace(id.charAt(0), id.charAt(0) == '0' ? '1' : '0')));
        assertNull(read(Arrays.copyOf(file, file.length + 1), id), "something behind it");
        assertNull(read(Arrays.copyOf(file, file.length - 1), id), "cut");
        assertNull(read(new byte[0], id));
        assertNull(read("no zlib".getBytes(StandardCharsets.US_ASCII), id));
        String odd = store.put("blob", "x", Deflater.BEST_COMPRESSION);
        assertFalse(whole(store.file(odd), odd).isPackedLike(whole(file, id)));
        String huge = store.put("blob", "\0".repeat(GitObject.BYTES_MAX + 1));
        assertNull(read(store.file(huge), huge), "longer than what is read");
    }

    private static @Nullable GitObject read(byte[] file, String id) throws IOException {
        return GitObject.read(new ByteArrayInputStream(file), id);
    }

    private static GitObject whole(byte[] file, String id) throws IOException {
        return Objects.requireNonNull(read(file, id));
    }

    @Test
    void anotherPackingIsADifference() throws Exception {
        Work fast = store -> List.of(store.put("commit", Store.text(file(store), "x", store.now, store.now)));
        Work best = store -> List.of(
                store.put("commit", Store.text(file(store), "x", store.now, store.now), Deflater.BEST_COMPRESSION));
        compare(fast, best).isOther(0);
    }
}
