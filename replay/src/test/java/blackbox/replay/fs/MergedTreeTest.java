package blackbox.replay.fs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.fs.MergedTree.Found;
import blackbox.replay.fs.MergedTree.Last;
import blackbox.replay.fs.MergedTree.Node;
import blackbox.schemas.row.Text;
import blackbox.vm.Command;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The trees are made by the file systems' own tools.
class MergedTreeTest {
    @TempDir
    static Path folder;

    private static Path upperImage = Path.of("");
    private static Path lowerImage = Path.of("");
    private static byte[] large = new byte[3_000_000];

    @BeforeAll
    static void make() throws Exception {
        new Random(1).nextBytes(large);
        Path lower = Files.createDirectories(folder.resolve("lower"));
        Files.createDirectories(lower.resolve("etc/opaque"));
        Files.createDirectories(lower.resolve("many"));
        Files.writeString(lower.resolve("etc/kept"), "kept");
        Files.writeString(lower.resolve("etc/changed"), "old");
        Files.writeString(lower.resolve("etc/removed"), "removed");
        Files.writeString(lower.resolve("etc/opaque/hidden"), "hidden");
        Files.writeString(lower.resolve("file"), "a file below, a folder above");
        Files.write(lower.resolve("large"), large);
        Files.createSymbolicLink(lower.resolve("link"), Path.of("etc/../etc/kept"));
        Files.createSymbolicLink(lower.resolve("out"), Path.of("/../../etc/passwd"));
        Files.createSymbolicLink(lower.resolve("loop"), Path.of("loop"));
        for (int i = 0; i < 700; i++) {
            Files.writeString(lower.resolve("many/entry-with-a-rather-long-name-" + i), Integer.toString(i));
        }
        lowerImage = folder.resolve("lower.erofs");
        Command.of("mkfs.erofs", "-d0", "-x-1", "-T1", lowerImage.toString(), lower.toString())
                .run();
        upperImage = folder.resolve("upper.ext4");
        makeUpper();
    }

    private static void makeUpper() throws Exception {
        try (var raw = new RandomAccessFile(upperImage.toFile(), "rw")) {
            raw.setLength(16 << 20);
        }
        Path changed = Files.writeString(folder.resolve("changed"), "new");
        Path content = Files.write(folder.resolve("content"), large);
        var script = new ArrayList<>(List.of(
                "mkdir upper",
                "cd upper",
                "mkdir etc",
                "mkdir file",
                "mkdir crowd",
                "write " + content + " fresh",
                "symlink short etc/kept",
                "symlink long " + "x/".repeat(40) + "y",
                "mknod pipe p",
                "mknod device b 8 1",
                "cd etc",
                "mkdir opaque",
                "write " + changed + " changed",
                "mknod removed c 0 0",
                "ea_set opaque trusted.overlay.opaque y",
                "cd opaque",
                "write " + changed + " seen",
                "cd /upper/crowd"));
        for (int i = 0; i < 300; i++) {
            script.add("write " + changed + " entry-with-a-rather-long-name-" + i);
        }
        Path commands = Files.write(folder.resolve("commands"), script);
        Command.of("mke2fs", "-q", "-F", "-t", "ext4", upperImage.toString()).run();
        Command.of("debugfs", "-w", "-f", commands.toString(), upperImage.toString())
                .run();
    }

    private static FileTree upper;
    private static FileTree lower;

    @BeforeAll
    static void open() throws IOException {
        upper = Ext4Tree.open(upperImage);
        lower = ErofsTree.open(lowerImage);
    }

    @AfterAll
    static void close() throws IOException {
        upper.close();
        lower.close();
    }

    private static MergedTree tree() throws IOException {
        return new MergedTree(upper, MergedTree.upperRoot(upper), lower);
    }

    private static String content(String path) throws IOException {
        MergedTree tree = tree();
        Found found = tree.find(Text.of(path), Last.FOLLOWED);
        assertNotNull(found, path);
        try (InputStream in = tree.open(found.node())) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static List<String> names(String path) throws IOException {
        MergedTree tree = tree();
        Found found = tree.find(Text.of(path), Last.SHOWN);
        assertNotNull(found, path);
        return tree.list(found.node()).keySet().stream().map(Text::toString).toList();
    }

    @Test
    void theUpperTreeHidesReplacesAndAdds() throws Exception {
        assertEquals(List.of("changed", "kept", "opaque"), names("/etc"));
        assertEquals("new", content("/etc/changed"));
        assertEquals("kept", content("/etc/kept"));
        assertNull(tree().find(Text.of("/etc/removed"), Last.SHOWN));
        assertEquals(List.of("seen"), names("/etc/opaque"));
        assertEquals(List.of(), names("/file"));
        assertEquals(700, names("/many").size());
        assertEquals(300, names("/crowd").size());
        assertEquals("17", content("/many/entry-with-a-rather-long-name-17"));
    }

    @Test
    void contentIsReadFromBothTrees() throws Exception {
        for (String path : List.of("/large", "/fresh")) {
            MergedTree tree = tree();
            Found found = tree.find(Text.of(path), Last.SHOWN);
            assertNotNull(found);
            assertEquals(large.length, found.node().inode().bytes());
            try (InputStream in = tree.open(found.node())) {
                assertArrayEquals(large, in.readAllBytes());
            }
        }
    }

    @Test
    void linksAreFollowedWithinTheTreeOnly() throws Exception {
        assertEquals("kept", content("/link"));
        assertEquals("kept", content("/short"));
        assertEquals("kept", content("//etc/.././../../etc/kept"));
        assertNull(tree().find(Text.of("/out"), Last.FOLLOWED));
        assertNull(tree().find(Text.of("/loop"), Last.FOLLOWED));
        assertNull(tree().find(Text.of("/etc/kept/under-a-file"), Last.FOLLOWED));
        MergedTree tree = tree();
        Found shown = tree.find(Text.of("/long"), Last.SHOWN);
        assertNotNull(shown);
        assertEquals("x/".repeat(40) + "y", tree.target(shown.node()).toString());
    }

    @Test
    void devicesAndPipesAreShown() throws Exception {
        SortedMap<Text, Node> root = tree().list(tree().root());
        Node device = root.get(Text.of("device"));
        assertNotNull(device);
        assertEquals(FileType.BLOCK_DEVICE, device.inode().type());
        assertEquals(8L << 32 | 1, device.inode().device());
        Node pipe = root.get(Text.of("pipe"));
        assertNotNull(pipe);
        assertEquals(FileType.PIPE, pipe.inode().type());
    }

    @Test
    void aNameThatLeadsElsewhereIsRefused() throws Exception {
        String octets = Files.readString(upperImage, StandardCharsets.ISO_8859_1);
        Path image = folder.resolve("name.ext4");
        Files.writeString(image, octets.replace("\5\2crowd", "\5\2../wd"), StandardCharsets.ISO_8859_1);
        try (FileTree other = Ext4Tree.open(image)) {
            Inode top = MergedTree.upperRoot(other);
            assertNotNull(top);
            assertThrows(DamagedTreeException.class, () -> other.list(top));
        }
    }

    @Test
    void anOverlayThatOurGuestNeverMakesIsRefused() throws Exception {
        Path image = Files.copy(upperImage, folder.resolve("redirect.ext4"));
        Command.of("debugfs", "-w", "-R", "ea_set upper/etc trusted.overlay.redirect /x", image.toString())
                .run();
        try (FileTree other = Ext4Tree.open(image)) {
            var tree = new MergedTree(other, MergedTree.upperRoot(other), lower);
            assertThrows(DamagedTreeException.class, () -> tree.list(tree.root()));
        }
    }

    /// A guest that starts has made its folder in memory, not yet on its disk.
    @Test
    void aDiskWithoutTheOverlaysFolderShowsTheImageAlone() throws Exception {
        Path image = folder.resolve("empty.ext4");
        try (var raw = new RandomAccessFile(image.toFile(), "rw")) {
            raw.setLength(16 << 20);
        }
        Command.of("mke2fs", "-q", "-F", "-t", "ext4", image.toString()).run();
        try (FileTree disk = Ext4Tree.open(image)) {
            assertNull(MergedTree.upperRoot(disk));
            var tree = new MergedTree(disk, null, lower);
            Found found = tree.find(Text.of("/etc/removed"), Last.FOLLOWED);
            assertNotNull(found);
            try (InputStream in = tree.open(found.node())) {
                assertEquals("removed", new String(in.readAllBytes(), StandardCharsets.UTF_8));
            }
        }
    }

    /// Whatever a guest does to its disk, reading it ends, with nothing worse than a refusal.
    @Test
    void damagedImagesAreRefusedOrReadButNeverWorse() throws Exception {
        byte[] whole = Files.readAllBytes(upperImage);
        List<Integer> places = metadata(whole);
        Path image = folder.resolve("damaged.ext4");
        var met = new TreeMap<String, Integer>();
        for (int seed = 0; seed < 60; seed++) {
            var random = new Random(seed);
            byte[] damaged = whole.clone();
            for (int i = 0; i < 1 << random.nextInt(10); i++) {
                damaged[places.get(random.nextInt(places.size()))] = (byte) random.nextInt();
            }
            Files.write(image, damaged);
            met.merge(walk(image), 1, Integer::sum);
        }
        assertTrue(met.keySet().size() > 1, () -> "the damage never mattered: " + met);
    }

    /// The positions of octets that are not zero, in blocks that mostly are: those hold structures, not content.
    private static List<Integer> metadata(byte[] image) {
        var places = new ArrayList<Integer>();
        for (int block = 0; block < image.length; block += 1024) {
            int from = block;
            int[] used = IntStream.range(from, from + 1024)
                    .filter(at -> image[at] != 0)
                    .toArray();
            if (used.length < 700) {
                Arrays.stream(used).forEach(places::add);
            }
        }
        return places;
    }

    private static String walk(Path image) {
        try (FileTree tree = Ext4Tree.open(image)) {
            var merged = new MergedTree(tree, MergedTree.upperRoot(tree), lower);
            walk(merged, merged.root(), 0);
            return "read";
        } catch (DamagedTreeException e) {
            return "refused";
        } catch (IOException e) {
            throw new AssertionError("a failure other than a refusal", e);
        }
    }

    private static void walk(MergedTree tree, Node folder, int depth) throws IOException {
        for (Node node : tree.list(folder).values()) {
            switch (node.inode().type()) {
                case FOLDER -> {
                    if (depth < 4) {
                        walk(tree, node, depth + 1);
                    }
                }
                case FILE -> {
                    try (InputStream in = tree.open(node)) {
                        in.skipNBytes(Math.min(node.inode().bytes(), 10_000));
                    }
                }
                case LINK -> tree.target(node);
                case PIPE, SOCKET, BLOCK_DEVICE, CHARACTER_DEVICE -> {}
            }
        }
    }
}
