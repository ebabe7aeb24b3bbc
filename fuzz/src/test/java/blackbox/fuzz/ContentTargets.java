package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.replay.content.ContentMatch;
import blackbox.replay.content.Origins;
import blackbox.replay.content.Window;
import blackbox.replay.sqlite.DatabaseMatch;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/// Files of a guest that a replay compares by what they say.
final class ContentTargets {
    private static final Window RUN = new Window(1_700_000_000_000_000_000L, 1_700_000_060_000_000_000L);

    private static byte[] database = {};

    private ContentTargets() {}

    static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of("content", 4 << 10, ContentTargets::content, ContentTargets::contents),
                FuzzTarget.of("sqlite", 240, ContentTargets::sqlite, () -> Map.of("unchanged", new byte[0])));
    }

    private static Origins origins() {
        return new Origins(_ -> RUN, _ -> RUN);
    }

    /// Two files, divided by the first octet: what is the same is found to be, and by the same look the other way.
    private static boolean content(byte[] octets) throws IOException {
        if (octets.length == 0) {
            return false;
        }
        int split = 1 + (octets.length - 1) * (octets[0] & 0xff) / 256;
        byte[] one = Arrays.copyOfRange(octets, 1, split);
        byte[] two = Arrays.copyOfRange(octets, split, octets.length);
        ensure(match(one, one).difference() == null, "a file differs from itself");
        ContentMatch plain = ContentMatch.of(new ByteArrayInputStream(one), new ByteArrayInputStream(two));
        ensure((plain.difference() == null) == Arrays.equals(one, two), "files are found equal that are not");
        ContentMatch match = match(one, two);
        ensure(match.difference() == null || plain.difference() != null, "a difference is found where there is none");
        return match.difference() == null;
    }

    private static ContentMatch match(byte[] recorded, byte[] actual) throws IOException {
        return ContentMatch.of(new ByteArrayInputStream(recorded), new ByteArrayInputStream(actual), origins());
    }

    private static Map<String, byte[]> contents() {
        String line = "at %s it took 47s, pid 12\n";
        return Map.of(
                "times",
                ascii("\200" + line.formatted("2023-11-14T22:13:25Z") + line.formatted("2023-11-14T22:13:39Z")),
                "seconds",
                ascii("\200" + line.formatted("1700000005") + line.formatted("1700000009")));
    }

    private static boolean sqlite(byte[] changes) throws Exception {
        byte[] original = database();
        byte[] changed = Scratch.patched(original, changes);
        DatabaseMatch match = DatabaseMatch.of(original, changed, origins(), _ -> {});
        ensure(
                !(match instanceof DatabaseMatch.Unknown) || !Arrays.equals(original, changed),
                "a database that sqlite3 made is not understood");
        ensure(
                !Arrays.equals(original, changed) || match instanceof DatabaseMatch.Same,
                "a database differs from itself");
        DatabaseMatch self = DatabaseMatch.of(changed, changed.clone(), origins(), _ -> {});
        ensure(!(self instanceof DatabaseMatch.Different), "a database differs from itself: " + self);
        return match instanceof DatabaseMatch.Same;
    }

    /// A database of tables, an index and rows that overflow their pages.
    private static byte[] database() throws Exception {
        if (database.length == 0) {
            Path folder = Files.createTempDirectory("fuzz-sqlite");
            Path file = folder.resolve("db");
            Process python = new ProcessBuilder(
                            "python3",
                            "-c",
                            "import sqlite3,sys\n"
                                    + "db=sqlite3.connect(sys.argv[1])\n"
                                    + "db.execute('pragma page_size=512')\n"
                                    + "db.execute('create table t(a integer primary key,b text,c real,d blob)')\n"
                                    + "db.execute('create table w(k text primary key,v) without rowid')\n"
                                    + "db.execute('create index i on t(b)')\n"
                                    + "[db.execute('insert into t values(?,?,?,?)',(i,'text %d'%i*(i%7),i/3,b'x'*i*30))"
                                    + " for i in range(40)]\n"
                                    + "[db.execute('insert into w values(?,?)',('k%d'%i,i)) for i in range(9)]\n"
                                    + "db.commit()",
                            file.toString())
                    .inheritIO()
                    .start();
            ensure(python.waitFor() == 0, "python3 could not make a database");
            database = Files.readAllBytes(file);
            Scratch.delete(folder);
        }
        return database;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
