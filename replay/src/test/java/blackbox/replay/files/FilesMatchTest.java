package blackbox.replay.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.files.FileDifference.How;
import blackbox.replay.files.FilesMatch.Pair;
import blackbox.replay.files.FilesMatch.Pairs;
import blackbox.replay.fs.DamagedTreeException;
import blackbox.schemas.Hash;
import blackbox.schemas.row.Text;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FilesMatchTest {
    private static final String ABSENT = "nothing but what the image has there";

    @TempDir
    Path folder;

    private TestDisk disks;

    @BeforeEach
    void open() {
        disks = new TestDisk(folder);
    }

    /// A tree with something of every kind.
    private List<String> tree() throws Exception {
        return new ArrayList<>(List.of(
                "mkdir etc",
                "mkdir tmp",
                "cd etc",
                disks.write("plain", "plain content"),
                disks.write("empty", ""),
                "mknod removed c 0 0",
                "symlink short target",
                "symlink long " + "x/".repeat(40) + "y",
                "mkdir hides",
                "ea_set hides trusted.overlay.opaque y",
                "ea_set plain user.comment twelve-octet",
                "cd ..",
                "mknod pipe p",
                "mknod null c 1 3",
                disks.write("n\u00ff\u00fe", "a name that is not UTF-8")));
    }

    private FilesMatch match(List<String> recorded, List<String> actual, Names names, ContentRule rule)
            throws Exception {
        try (FilesAtEnd one = FilesAtEnd.ofImage(disks.make("recorded", recorded));
                FilesAtEnd other = FilesAtEnd.ofImage(disks.make("actual", actual))) {
            return FilesMatch.of(one, other, names, rule);
        }
    }

    private FilesMatch match(List<String> recorded, List<String> actual) throws Exception {
        return match(recorded, actual, Names.NONE, ContentRule.STRICT);
    }

    private static FileDifference difference(String path, How how, String expected, String actual) {
        return new FileDifference(Text.of(path), how, expected, actual, -1);
    }

    @Test
    void treesThatWereMadeInAnotherOrderAreTheSame() throws Exception {
        List<String> tree = tree();
        var other = new ArrayList<>(List.of("mkdir gone", "mknod pipe p", "mknod null c 1 3", "rmdir gone"));
        tree.stream()
                .filter(line -> !line.startsWith("mknod ") || line.contains("removed"))
                .forEach(other::add);
        FilesMatch match = match(tree, other);
        assertEquals(List.of(), match.differences());
        assertTrue(match.isSame());
        assertEquals(11, match.files());
        assertEquals("plain content".length() + "a name that is not UTF-8".length(), match.octets());
        assertEquals(new Pairs(0, List.of()), match.pairs());
    }

    @Test
    void everyKindOfDifferenceIsFound() throws Exception {
        List<String> tree = tree();
        List<String> other = new ArrayList<>(tree);
        other.addAll(List.of(
                "sif /upper uid 7",
                "cd /upper/etc",
                "rm plain",
                disks.write("plain", "plain CONTENT"),
                "rm empty",
                disks.write("empty", "no more"),
                "kill_file removed",
                "unlink removed",
                disks.write("removed", "is there"),
                "unlink short",
                "symlink short elsewhere",
                "ea_rm hides trusted.overlay.opaque",
                "sif hides mode 041777",
                "sif hides gid 70000",
                "sif long gid 5",
                disks.write("extra", "1"),
                "cd ..",
                "unlink null",
                "mknod null c 1 5",
                "unlink pipe",
                "mkdir pipe",
                "rm n\u00ff\u00fe",
                disks.write("n\u00ff\u00fd", "a name that is not UTF-8")));
        FilesMatch match = match(tree, other);
        byte[] invalid = "/n\u00ff\u00fd".getBytes(StandardCharsets.ISO_8859_1);
        byte[] gone = "/n\u00ff\u00fe".getBytes(StandardCharsets.ISO_8859_1);
        List<FileDifference> expected = List.of(
                difference("/", How.OWNER, "user 0, group 0", "user 7, group 0"),
                difference("/etc/empty", How.SIZE, content(""), content("no more")),
                difference("/etc/extra", How.EXTRA, ABSENT, "a file of 1 octets"),
                difference("/etc/hides", How.MODE, "0755", "1777"),
                difference("/etc/hides", How.OWNER, "user 0, group 0", "user 0, group 70000"),
                difference(
                        "/etc/hides",
                        How.ATTRIBUTE,
                        "the attribute trusted.overlay.opaque of 1 octets, SHA-256 " + sha256("y"),
                        "no attribute trusted.overlay.opaque"),
                difference("/etc/long", How.OWNER, "user 0, group 0", "user 0, group 5"),
                difference(
                        "/etc/plain",
                        How.ATTRIBUTE,
                        "the attribute user.comment of 12 octets, SHA-256 " + sha256("twelve-octet"),
                        "no attribute user.comment"),
                new FileDifference(
                        Text.of("/etc/plain"),
                        How.CONTENT,
                        content("plain content"),
                        content("plain CONTENT"),
                        "plain ".length()),
                difference("/etc/removed", How.TYPE, "deleted", "a file of 8 octets"),
                difference("/etc/short", How.TARGET, "to target", "to elsewhere"),
                difference("/null", How.TYPE, "the character device 1:3", "the character device 1:5"),
                new FileDifference(
                        Text.copyOf(invalid, 0, invalid.length), How.EXTRA, ABSENT, "a file of 24 octets", -1),
                new FileDifference(Text.copyOf(gone, 0, gone.length), How.MISSING, "a file of 24 octets", ABSENT, -1),
                difference("/pipe", How.TYPE, "a pipe", "a folder"));
        assertEquals(lines(expected), lines(match.differences()));
        assertEquals(expected, match.differences(), "paths by octets");
        assertEquals(expected.size(), match.count());
        FilesMatch swapped = match(other, tree);
        assertEquals(expected.size(), swapped.count());
        assertEquals(How.MISSING, swapped.differences().get(2).how());
        assertEquals(How.EXTRA, swapped.differences().get(13).how());
    }

    private static String lines(List<FileDifference> differences) {
        return differences.toString().replace("FileDifference[", "\n");
    }

    private static String sha256(String text) {
        return Hash.sha256(text.getBytes(StandardCharsets.ISO_8859_1)).toString();
    }

    private static String content(String text) {
        return text.length() + " octets, SHA-256 " + sha256(text);
    }

    @Test
    void aDeletedFileIsNotOneThatIsAsInTheImage() throws Exception {
        FilesMatch match = match(List.of("mknod gone c 0 0"), List.of());
        assertEquals(List.of(difference("/gone", How.MISSING, "deleted", ABSENT)), match.differences());
        assertTrue(match(List.of("mknod gone c 0 0"), List.of("mknod gone c 0 0", "sif gone uid 9"))
                .isSame());
    }

    @Test
    void aFolderThatOnlyOneSideHasCountsOnce() throws Exception {
        FilesMatch match = match(List.of(), List.of("mkdir a", "cd a", "mkdir b", disks.write("c", "d")));
        assertEquals(List.of(difference("/a", How.EXTRA, ABSENT, "a folder")), match.differences());
    }

    @Test
    void moreAreCountedThanShown() throws Exception {
        String file = disks.write("", "");
        List<String> many = IntStream.range(100, 200).mapToObj(i -> file + i).toList();
        FilesMatch match = match(many, List.of());
        assertEquals(100, match.count());
        assertEquals(FilesMatch.SHOWN_MAX, match.differences().size());
        assertEquals(Text.of("/119"), match.differences().getLast().path());
    }

    @Test
    void namesStandForOthersAndSoDoThePathsBelowThem() throws Exception {
        List<String> recorded = List.of(
                "mkdir desk",
                "cd desk",
                "mkdir tmp.X1",
                disks.write("tmp.X2", "two"),
                disks.write("tmp.X3", "three"),
                disks.write("tmp.X4", "four"),
                disks.write("kept", "kept"),
                "cd tmp.X1",
                disks.write("in", "inside"),
                disks.write("made-1", "same"));
        List<String> actual = List.of(
                "mkdir desk",
                "cd desk",
                disks.write("tmp.A3", "two"),
                disks.write("tmp.A4", "three"),
                disks.write("kept", "kept"),
                disks.write("other", "four"),
                "mkdir tmp.Z",
                "cd tmp.Z",
                disks.write("in", "INSIDE"),
                disks.write("made-2", "same"));
        var asked = new ArrayList<String>();
        Names names = (one, other) -> {
            asked.add(one + " " + other);
            String[] parts = {one.toString(), other.toString()};
            return parts[0].contains("made-") && parts[1].contains("made-")
                    || parts[0].startsWith("/desk/tmp.X")
                            && parts[1].startsWith("/desk/tmp.")
                            && parts[1].length() > 10;
        };
        FilesMatch match = match(recorded, actual, names, ContentRule.STRICT);
        assertEquals(
                List.of(
                        difference("/desk/other", How.EXTRA, ABSENT, "a file of 4 octets"),
                        new FileDifference(
                                Text.of("/desk/tmp.X1/in"), How.CONTENT, content("inside"), content("INSIDE"), 0),
                        difference("/desk/tmp.X4", How.MISSING, "a file of 4 octets", ABSENT)),
                match.differences());
        assertEquals(4, match.pairs().count());
        assertEquals(
                List.of(pair("/desk/tmp.X1", "/desk/tmp.Z"), pair("/desk/tmp.X2", "/desk/tmp.A3")),
                match.pairs().first().subList(0, 2));
        assertEquals(Pairs.SHOWN_MAX, match.pairs().first().size());
        assertTrue(asked.contains("/desk/tmp.X1/made-1 /desk/tmp.Z/made-2"), asked::toString);
        assertFalse(asked.stream().anyMatch(each -> each.contains("kept")), "what both have is not asked about");
    }

    private static Pair pair(String recorded, String actual) {
        return new Pair(Text.of(recorded), Text.of(actual));
    }

    @Test
    void thousandsOfMadeUpNamesArePaired() throws Exception {
        int files = 3_000;
        String file = disks.write("", "x");
        var recorded = new ArrayList<String>();
        var actual = new ArrayList<String>();
        var numbers = new ArrayList<>(IntStream.range(0, files).boxed().toList());
        Collections.shuffle(numbers, new Random(1));
        for (int number : numbers) {
            recorded.add(file + "r-" + number);
            actual.add(file + "a-" + (files - number));
        }
        Names mirrored = (one, other) -> Integer.parseInt(one.toString().substring(3))
                == files - Integer.parseInt(other.toString().substring(3));
        FilesMatch match = match(recorded, actual, mirrored, ContentRule.STRICT);
        assertEquals(List.of(), match.differences());
        assertEquals(files, match.pairs().count());
        assertEquals(files, match.files());
    }

    @Test
    void aRuleIsAskedOnlyAboutContentsThatDiffer() throws Exception {
        List<String> recorded = List.of(disks.write("same", "same"), disks.write("time", "at 10"));
        List<String> actual = List.of(disks.write("same", "same"), disks.write("time", "at 11"));
        var asked = new ArrayList<String>();
        ContentRule allows = (paths, one, other) -> {
            asked.add(paths.recorded() + " " + text(one) + " " + text(other));
            return null;
        };
        assertTrue(match(recorded, actual, Names.NONE, allows).isSame());
        assertEquals(List.of("/time at 10 at 11"), asked);
        FilesMatch match = match(recorded, actual, Names.NONE, (_, one, other) -> new ContentRule.Found(3, "", ""));
        assertEquals(3, match.differences().getFirst().octet());
    }

    private static String text(InputStream in) throws java.io.IOException {
        return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    @Test
    void largeFilesAreComparedToTheirLastOctet() throws Exception {
        var octets = new byte[3_000_001];
        new Random(2).nextBytes(octets);
        String content = new String(octets, StandardCharsets.ISO_8859_1);
        octets[3_000_000] ^= 1;
        String changed = new String(octets, StandardCharsets.ISO_8859_1);
        FilesMatch match = match(List.of(disks.write("large", content)), List.of(disks.write("large", changed)));
        assertEquals(3_000_000, match.differences().getFirst().octet());
        assertEquals(3_000_001, match.octets());
    }

    /// Nobody reads terabytes of zeros.
    @Test
    void holesAreNotRead() throws Exception {
        long bytes = (4L << 40) - 4096;
        List<String> recorded = List.of(disks.write("holes", "begin"), "sif holes size " + bytes);
        var actual = new ArrayList<>(recorded);
        FilesMatch match = match(recorded, actual);
        assertTrue(match.isSame());
        assertEquals(bytes, match.octets());
        List<String> begins = List.of(disks.write("holes", "BEGIN"), "sif holes size " + bytes);
        match = match(recorded, begins);
        assertEquals(
                List.of(new FileDifference(Text.of("/holes"), How.CONTENT, bytes + " octets", bytes + " octets", 0)),
                match.differences());
    }

    @Test
    void deepTreesAreComparedWithoutRecursion() throws Exception {
        int deep = 3_000;
        var recorded = new ArrayList<String>();
        for (int i = 0; i < deep; i++) {
            recorded.addAll(List.of("mkdir d", "cd d"));
        }
        var actual = new ArrayList<>(recorded);
        recorded.add(disks.write("f", "1"));
        actual.add(disks.write("f", "2"));
        FilesMatch match = match(recorded, actual);
        assertEquals(1, match.count());
        assertEquals(
                Text.of("/d".repeat(deep) + "/f"),
                match.differences().getFirst().path());
        assertEquals(deep + 1, match.files());
    }

    @Test
    void aFolderWithinItselfIsRefused() throws Exception {
        List<String> tree = List.of("mkdir a", "cd a", "mkdir b", "cd b", "link /upper/a loop");
        ReplayException refused = assertThrows(ReplayException.class, () -> match(tree, tree));
        assertEquals(Code.ENGINE, refused.code());
        assertTrue(String.valueOf(refused.getMessage()).contains("is in two places"), refused::getMessage);
    }

    @Test
    void aDiskWithoutAFileSystemIsRefused() throws Exception {
        Path image = Files.write(folder.resolve("nothing"), new byte[1 << 20]);
        ReplayException refused = assertThrows(ReplayException.class, () -> FilesAtEnd.ofImage(image));
        assertEquals(Code.ENGINE, refused.code());
    }

    /// As damage to the name of the folder leaves it.
    @Test
    void diskWithoutTheGuestsFolderIsRefused() throws Exception {
        Path disk = disks.make("renamed", List.of("cd /", "ln upper elsewhere", "unlink upper"));
        ReplayException refused = assertThrows(ReplayException.class, () -> FilesAtEnd.in(disk, null));
        assertEquals(Code.ENGINE, refused.code());
        assertNull(refused.getCause(), "the disk can be read");
        assertEquals("a guest left a disk that holds no folder for the guest's files", refused.getMessage());
    }

    /// Whatever a guest does to its disk, comparing it ends, with nothing worse than a refusal.
    @Test
    void damagedTreesAreComparedOrRefusedButNeverWorse() throws Exception {
        Path whole = disks.make("whole", tree());
        Path damaged = folder.resolve("damaged.ext4");
        byte[] octets = Files.readAllBytes(whole);
        int[] places = IntStream.range(1024, octets.length)
                .filter(at -> octets[at] != 0)
                .toArray();
        var refused = new AtomicLong();
        var differ = new AtomicLong();
        for (int seed = 0; seed < 60; seed++) {
            var random = new Random(seed);
            byte[] changed = octets.clone();
            for (int i = 0; i < 1 << random.nextInt(10); i++) {
                changed[places[random.nextInt(places.length)]] = (byte) random.nextInt();
            }
            Files.write(damaged, changed);
            try (FilesAtEnd one = FilesAtEnd.in(whole, null);
                    FilesAtEnd other = FilesAtEnd.in(damaged, null)) {
                differ.addAndGet(FilesMatch.of(one, other, (a, b) -> true).count());
            } catch (ReplayException e) {
                assertTrue(
                        e.getCause() == null || e.getCause() instanceof DamagedTreeException,
                        seed + ": " + e.getCause());
                refused.incrementAndGet();
            }
        }
        assertTrue(refused.get() > 0 && differ.get() > 0, refused + " refused, " + differ + " differences");
    }
}
