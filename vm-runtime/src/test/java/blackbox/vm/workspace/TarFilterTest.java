package blackbox.vm.workspace;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.Command;
import blackbox.vm.VmException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TarFilterTest {
    private static final BigDecimal NOW = BigDecimal.ONE;

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "0, ../escape, '', a path with '..'",
        "0, a/../../escape, '', a path with '..'",
        "0, under/file, '', a path below what is not one of its folders",
        "1, link, /etc/passwd, a hard link to what is not one of its files",
        "1, link, ../../x, a path with '..'",
        "2, link, '', a link without target",
        "7, contiguous, '', it has an entry of type 55",
        "L, long, '', it has an entry of type 76",
        "S, sparse, '', it has an entry of type 83",
    })
    void whatReachesOutsideIsRefused(char type, String path, String link, String why) throws Exception {
        var failure = assertThrows(VmException.class, () -> filter(archive(type, path, link)));
        assertEquals(VmException.Code.WORKSPACE_REFUSED, failure.code());
        assertTrue(failure.getMessage().endsWith(why), failure.getMessage());
    }

    @Test
    void aFileThroughASymlinkOfTheSameArchiveIsRefused() throws Exception {
        var out = new ByteArrayOutputStream();
        var tar = new TarWriter(out);
        tar.entry('2', "out", "/tmp", 0777, 0, NOW);
        tar.entry('0', "out/file", "", 0644, 0, NOW);
        tar.finish();
        assertThrows(VmException.class, () -> filter(out.toByteArray()));
    }

    @Test
    void theSamePathTwiceIsRefused() throws Exception {
        var out = new ByteArrayOutputStream();
        var tar = new TarWriter(out);
        tar.entry('2', "a", "/tmp", 0777, 0, NOW);
        tar.entry('0', "./a", "", 0644, 0, NOW);
        tar.finish();
        assertThrows(VmException.class, () -> filter(out.toByteArray()));
    }

    @Test
    void absolutePathsLoseTheirSlashAndSpecialBitsGo() throws Exception {
        var out = new ByteArrayOutputStream();
        var tar = new TarWriter(out);
        tar.entry('0', "/run.sh", "", 06755, 0, NOW);
        tar.finish();
        Path clean = Files.write(folder.resolve("clean.tar"), filter(out.toByteArray()));
        assertTrue(Command.of("tar", "-tvf", clean.toString()).run().matches("(?s)-rwxr-xr-x .* run\\.sh\n"));
    }

    @Test
    void devicesAreLeftOut() throws Exception {
        var filter = new TarFilter(TarFilter.Limits.DEFAULT);
        filter.copy(new ByteArrayInputStream(archive('3', "tty", "")), new ByteArrayOutputStream());
        assertEquals(1, filter.leftOut());
    }

    @Test
    void moreThanTheLimitsIsRefused() throws Exception {
        var out = new ByteArrayOutputStream();
        var tar = new TarWriter(out);
        tar.entry('0', "a", "", 0644, 5L << 30, NOW);
        tar.finish();
        var large = new TarFilter(new TarFilter.Limits(10, 1 << 30, 100));
        var failure = assertThrows(
                VmException.class,
                () -> large.copy(new ByteArrayInputStream(out.toByteArray()), new ByteArrayOutputStream()));
        assertEquals(VmException.Code.WORKSPACE_TOO_LARGE, failure.code());
        var few = new TarFilter(new TarFilter.Limits(0, 1 << 30, 100));
        assertThrows(
                VmException.class,
                () -> few.copy(new ByteArrayInputStream(archive('5', "d", "")), new ByteArrayOutputStream()));
    }

    /// Each size is one that a pax header can have; their sum is more than a number can hold.
    @Test
    void aSumOfSizesThatWrapsIsMoreThanTheLimit() throws Exception {
        var out = new ByteArrayOutputStream();
        var tar = new TarWriter(out);
        tar.entry('0', "small", "", 0644, 1, NOW);
        tar.content(new ByteArrayInputStream(new byte[1]), 1);
        tar.entry('0', "large", "", 0644, Long.MAX_VALUE, NOW);
        tar.content(new ByteArrayInputStream(new byte[4096]), 4096);
        tar.finish();
        var filter = new TarFilter(new TarFilter.Limits(10, 2048, 100));
        var failure = assertThrows(
                VmException.class,
                () -> filter.copy(new ByteArrayInputStream(out.toByteArray()), new ByteArrayOutputStream()));
        assertEquals(VmException.Code.WORKSPACE_TOO_LARGE, failure.code(), failure.getMessage());
    }

    @Test
    void targetsOfLinksCountAsNames() throws Exception {
        String target = "x".repeat(1_000);
        var out = new ByteArrayOutputStream();
        var tar = new TarWriter(out);
        for (int i = 0; i < 5; i++) {
            tar.entry('2', "link-" + i, target, 0777, 0, NOW);
        }
        tar.finish();
        new TarFilter(new TarFilter.Limits(10, 0, 5 * 1_006))
                .copy(new ByteArrayInputStream(out.toByteArray()), new ByteArrayOutputStream());
        var less = new TarFilter(new TarFilter.Limits(10, 0, 5 * 1_006 - 1));
        var failure = assertThrows(
                VmException.class,
                () -> less.copy(new ByteArrayInputStream(out.toByteArray()), new ByteArrayOutputStream()));
        assertTrue(failure.getMessage().contains("names of more than"), failure.getMessage());
    }

    /// They cost no entry, so that nothing else would end an archive of nothing but them.
    @Test
    void anExtendedHeaderAfterAnotherIsRefused() throws Exception {
        byte[] two = archive('5', "d", "");
        var out = new ByteArrayOutputStream();
        out.write(two, 0, 1024); // an extended header and its content
        out.writeBytes(two);
        assertThrows(VmException.class, () -> filter(out.toByteArray()));
    }

    /// Whatever is done to an archive: it is refused, or what comes out unpacks inside a folder and nowhere else.
    @Test
    void noDamagedArchiveEscapesTheFolder() throws Exception {
        long seed = Long.getLong("seed", 20261121L);
        Path from = folder.resolve("from");
        WorkspaceDiskTest.makeOddTree(from);
        byte[] good = Files.readAllBytes(tar(from));
        var random = new Random(seed);
        Path guard = Files.createDirectories(folder.resolve("guard"));
        int refused = 0;
        for (int i = 0; i < 300; i++) {
            byte[] bad = good.clone();
            for (int flips = random.nextInt(1, 4); flips > 0; flips--) {
                bad[random.nextInt(Math.min(bad.length, 40_000))] = (byte) random.nextInt(256);
            }
            try {
                byte[] clean = filter(bad);
                Path file = Files.write(folder.resolve("clean.tar"), clean);
                String names = Command.of("tar", "-tf", file.toString(), "--quoting-style=escape")
                        .run();
                assertFalse(names.lines().anyMatch(n -> n.startsWith("/") || n.contains("..")), "seed " + seed);
            } catch (VmException e) {
                refused++;
            }
        }
        try (var left = Files.list(guard)) {
            assertEquals(0, left.count());
        }
        assertTrue(refused > 10, "seed " + seed + ": " + refused + " refused");
    }

    private Path tar(Path from) throws VmException {
        Path file = folder.resolve("good.tar");
        Command.of("tar", "-c", "--format=posix", "--sort=name", "-f", file.toString(), "-C", from.toString(), ".")
                .run();
        return file;
    }

    private static byte[] filter(byte[] archive) throws IOException, VmException {
        var out = new ByteArrayOutputStream();
        new TarFilter(TarFilter.Limits.DEFAULT).copy(new ByteArrayInputStream(archive), out);
        return out.toByteArray();
    }

    private static byte[] archive(char type, String path, String link) throws IOException {
        var out = new ByteArrayOutputStream();
        var tar = new TarWriter(out);
        tar.entry(type, path, link, 0644, 0, NOW);
        tar.finish();
        assertFalse(new String(out.toByteArray(), ISO_8859_1).isEmpty());
        return out.toByteArray();
    }
}
