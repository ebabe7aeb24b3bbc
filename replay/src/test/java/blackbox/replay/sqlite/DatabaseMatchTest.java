package blackbox.replay.sqlite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.content.ContentMatch;
import blackbox.replay.content.KnownTies;
import blackbox.replay.content.Origins;
import blackbox.replay.content.Window;
import blackbox.replay.content.WrittenWhen;
import blackbox.vm.Command;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Databases that SQLite itself made, as Python has it: those that say the same are the same however they are laid out,
/// and whatever says something else is found. SQLite is also asked what it reads from damaged ones.
class DatabaseMatchTest {
    private static final long SECOND = 1_000_000_000;
    private static final Origins UNKNOWN = new Origins(WrittenWhen.UNKNOWN, WrittenWhen.UNKNOWN);
    private static final int PAIRS = 8;
    private static final int DAMAGED = 200;
    private static final int PAGE = 4_096;

    @TempDir
    private static Path folder;

    @BeforeAll
    static void make() throws Exception {
        python("make", folder, "");
    }

    private static String python(String what, Path where, String more) throws Exception {
        Path script = Files.createTempFile("databases", ".py");
        try (InputStream in = Objects.requireNonNull(DatabaseMatchTest.class.getResourceAsStream("databases.py"))) {
            Files.write(script, in.readAllBytes());
            return Command.of("python3", script.toString(), what, where.toString(), more)
                    .run();
        } finally {
            Files.delete(script);
        }
    }

    private static byte[] file(String name) throws IOException {
        return Files.readAllBytes(folder.resolve(name + ".db"));
    }

    private static DatabaseMatch match(byte[] recorded, byte[] actual) throws IOException {
        return DatabaseMatch.of(recorded, actual, UNKNOWN, _ -> {});
    }

    private static void assertDifferent(String name, String where) throws IOException {
        DatabaseMatch.Different different =
                assertInstanceOf(DatabaseMatch.Different.class, match(file("base"), file(name)), name);
        assertEquals(where, different.where(), name);
        assertInstanceOf(DatabaseMatch.Different.class, match(file(name), file("base")), name);
    }

    @Test
    void layoutDoesNotCount() throws Exception {
        for (String name : List.of("base", "shuffled", "emptied")) {
            assertInstanceOf(DatabaseMatch.Same.class, match(file("base"), file(name)), name);
            assertInstanceOf(DatabaseMatch.Same.class, match(file(name), file("base")), name);
        }
        assertInstanceOf(DatabaseMatch.Same.class, match(file("vacuum"), file("vacuumshuffled")));
        assertTrue(file("emptied").length > file("base").length);
    }

    @Test
    void whatAReaderCanSeeCounts() throws Exception {
        assertDifferent("octet", "table t, row 17, value 2");
        assertDifferent("extra", "table t, row 61");
        assertDifferent("missing", "table t, row 60");
        assertDifferent("rowid", "table t, row 60");
        assertDifferent("schema", "the schema");
        assertDifferent("unindexed", "the header's schema_version");
        assertDifferent("user", "the header's user_version");
        assertDifferent("application", "the header's application_id");
        assertDifferent("page", "the header's page_size");
        assertDifferent("utf16", "the header's text_encoding");
        assertDifferent("vacuum", "auto_vacuum");
    }

    /// Of which pages the trees consist is chance, over sizes of pages, encodings and ways of vacuuming.
    @Test
    void anyOrderOfWritingSaysTheSame(@TempDir Path pairs) throws Exception {
        python("random", pairs, "" + PAIRS);
        int octets = 0;
        for (int i = 0; i < PAIRS; i++) {
            byte[] one = Files.readAllBytes(pairs.resolve("%03da.db".formatted(i)));
            byte[] other = Files.readAllBytes(pairs.resolve("%03db.db".formatted(i)));
            assertInstanceOf(DatabaseMatch.Same.class, match(one, other), "pair " + i);
            octets += Arrays.equals(one, other) ? 0 : 1;
        }
        assertTrue(octets > PAIRS / 2, "most pairs differ in their octets");
    }

    /// Octets of a database are changed at random: only where SQLite reads the same from it, it is the same here.
    @Test
    void whatIsTheSameHereIsTheSameForSqlite(@TempDir Path damaged) throws Exception {
        var random = new Random(Long.getLong("blackbox.sqlite.seed", 227));
        byte[] base = file("base");
        Files.write(damaged.resolve("base.db"), base);
        int count = Integer.getInteger("blackbox.sqlite.damaged", DAMAGED);
        for (int i = 0; i < count; i++) {
            byte[] changed = base.clone();
            for (int n = random.nextInt(3); n >= 0; n--) {
                int page = random.nextInt(base.length / PAGE) * PAGE;
                int at = page + (random.nextBoolean() ? random.nextInt(PAGE) : random.nextInt(120));
                changed[at] =
                        (byte) (random.nextBoolean() ? changed[at] ^ 1 << random.nextInt(8) : random.nextInt(256));
            }
            Files.write(damaged.resolve("%05d.db".formatted(i)), changed);
        }
        Map<String, String> dumps = new HashMap<>();
        for (String line : python("dump", damaged, "").split("\n")) {
            dumps.put(line.substring(0, line.indexOf(' ')), line.substring(line.indexOf(' ') + 1));
        }
        String sound = dumps.get("base.db");
        int same = 0;
        for (int i = 0; i < count; i++) {
            String name = "%05d.db".formatted(i);
            byte[] changed = Files.readAllBytes(damaged.resolve(name));
            DatabaseMatch match = match(base, changed);
            if (match instanceof DatabaseMatch.Same) {
                same++;
                String read = String.valueOf(dumps.get(name));
                assertEquals(
                        String.valueOf(sound).split(" ")[0],
                        read.split(" ")[0],
                        name + " from octet " + Arrays.mismatch(base, changed));
            }
        }
        assertTrue(same > count / 20, "some changes are in what nobody reads: " + same);
        assertTrue(same < count, "and some are not");
    }

    @Test
    void aTimeAndAProcessMayStandForOthers() throws Exception {
        byte[] one = file("then");
        byte[] other = file("later");
        KnownTies processes = new KnownTies() {
            @Override
            public boolean standFor(String recorded, String actual) {
                return false;
            }

            @Override
            public boolean isSameProcess(long recorded, Window recordedWhen, long actual, Window actualWhen) {
                return recorded == 4711 && actual == 4915;
            }
        };
        var tied = new ArrayList<ContentMatch>();
        var origins = new Origins(at(1_795_611_318), at(1_795_611_321), processes);
        assertInstanceOf(DatabaseMatch.Same.class, DatabaseMatch.of(one, other, origins, tied::add));
        assertEquals(3, tied.stream().mapToLong(each -> each.times().count()).sum());
        assertEquals(
                2, tied.stream().mapToLong(each -> each.processes().count()).sum());
        assertInstanceOf(DatabaseMatch.Different.class, match(one, other));
        var without = new Origins(at(1_795_611_318), at(1_795_611_321));
        DatabaseMatch.Different pid =
                assertInstanceOf(DatabaseMatch.Different.class, DatabaseMatch.of(one, other, without, _ -> {}));
        assertEquals("table log, row 1, value 4", pid.where());
        DatabaseMatch.Different time =
                assertInstanceOf(DatabaseMatch.Different.class, DatabaseMatch.of(one, file("wrong"), origins, _ -> {}));
        assertEquals("table log, row 1, value 2", time.where());
    }

    private static WrittenWhen at(long second) {
        return _ -> new Window(second * SECOND, (second + 1) * SECOND);
    }

    @Test
    void anEntryOfAnIndexThatIsMissingIsFound() throws Exception {
        byte[] base = file("base");
        byte[] fewer = base.clone();
        int page = leafOfIndex(base);
        fewer[page + 4]--; // the number of cells
        DatabaseMatch.Different different = assertInstanceOf(DatabaseMatch.Different.class, match(base, fewer));
        assertTrue(different.where().startsWith("index words, entry "), different::where);
    }

    /// Where the first page is that is a leaf of an index and has a cell.
    private static int leafOfIndex(byte[] file) {
        for (int page = PAGE; page < file.length; page += PAGE) {
            if (file[page] == 10 && file[page + 4] > 1 && indexOf(file, page, "aaaaaaaaaaaa") >= 0) {
                return page;
            }
        }
        throw new AssertionError("no index");
    }

    private static int indexOf(byte[] file, int page, String word) {
        return new String(file, page, PAGE, StandardCharsets.ISO_8859_1).indexOf(word);
    }

    /// The first page of a table's tree that is no leaf.
    private static int interior(byte[] file) {
        for (int page = PAGE; page < file.length; page += PAGE) {
            if (file[page] == 5) {
                return page;
            }
        }
        throw new AssertionError("no tree of several pages");
    }

    /// The first page of a chain of overflowing octets, as a cell of a leaf names it, and where it is named.
    private static int overflow(byte[] file) {
        for (int page = PAGE; page < file.length; page += PAGE) {
            for (int cell = 0; file[page] == 13 && cell < file[page + 4]; cell++) {
                int at = page + ByteBuffer.wrap(file).getShort(page + 8 + 2 * cell);
                int bytes = (file[at] & 0x7f) << 7 | file[at + 1] & 0x7f;
                if (file[at] < 0 && bytes > PAGE) {
                    int local = (PAGE - 12) * 32 / 255 - 23;
                    local += (bytes - local) % (PAGE - 4);
                    return at + 3 + local;
                }
            }
        }
        throw new AssertionError("nothing overflows");
    }

    @Test
    void whatContradictsItselfIsNoDatabase() throws Exception {
        byte[] base = file("base");
        var broken = new HashMap<String, byte[]>();
        ByteBuffer cycle = ByteBuffer.wrap(base.clone());
        cycle.putInt(interior(base) + 8, interior(base) / PAGE + 1);
        broken.put("a tree that leads to itself", cycle.array());
        ByteBuffer beyond = ByteBuffer.wrap(base.clone());
        beyond.putInt(interior(base) + 8, base.length / PAGE + 1);
        broken.put("a page that there is not", beyond.array());
        broken.put("cut by a page", Arrays.copyOf(base, base.length - PAGE));
        broken.put("cut within a page", Arrays.copyOf(base, base.length - 1));
        broken.put("a header", Arrays.copyOf(base, 100));
        broken.put("cut in its header", Arrays.copyOf(base, 40));
        ByteBuffer chain = ByteBuffer.wrap(base.clone());
        int named = overflow(base);
        chain.putInt((chain.getInt(named) - 1) * PAGE, chain.getInt(named));
        broken.put("a chain that leads to itself", chain.array());
        ByteBuffer swapped = ByteBuffer.wrap(base.clone());
        swapped.putInt(named, 1);
        broken.put("a chain through the first page", swapped.array());
        ByteBuffer overlap = ByteBuffer.wrap(base.clone());
        int leaf = leafOfIndex(base);
        overlap.putShort(leaf + 8, overlap.getShort(leaf + 10));
        broken.put("two cells in one place", overlap.array());
        ByteBuffer none = ByteBuffer.wrap(base.clone());
        none.putShort((none.getInt(interior(base) + 8) - 1) * PAGE + 3, (short) 0);
        broken.put("a page below a root without cells", none.array());
        byte[] cells = base.clone();
        cells[leaf + 3] = (byte) 0xff;
        broken.put("more cells than fit", cells);
        ByteBuffer kind = ByteBuffer.wrap(base.clone());
        kind.put(leaf, (byte) 13);
        broken.put("a page of another kind", kind.array());
        for (Map.Entry<String, byte[]> each : broken.entrySet()) {
            assertInstanceOf(DatabaseMatch.Unknown.class, match(base, each.getValue()), each.getKey());
            assertInstanceOf(DatabaseMatch.Unknown.class, match(each.getValue(), base), each.getKey());
        }
    }

    @Test
    void whatIsNoDatabaseIsNone() throws Exception {
        byte[] base = file("base");
        assertInstanceOf(DatabaseMatch.Unknown.class, match(base, new byte[0]));
        assertInstanceOf(
                DatabaseMatch.Unknown.class, match("SQLite format 3\0".getBytes(StandardCharsets.US_ASCII), base));
        assertInstanceOf(
                DatabaseMatch.Unknown.class, match("SQLite format 2\0".getBytes(StandardCharsets.US_ASCII), base));
    }
}
