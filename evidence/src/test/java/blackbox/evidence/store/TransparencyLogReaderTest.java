package blackbox.evidence.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.evidence.TestLog;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TransparencyLogReaderTest {

    @TempDir
    Path folder;

    private static List<String> entries(TransparencyLogReader log, long size) throws IOException {
        var entries = new ArrayList<String>();
        log.entries(size, (index, entry) -> {
            assertEquals(entries.size(), index);
            entries.add(new String(entry, StandardCharsets.UTF_8));
        });
        return entries;
    }

    @Test
    void entriesComeInOrderFromFullAndPartialBundles() throws IOException {
        var written = new TestLog(folder);
        var expected = new ArrayList<String>();
        for (int i = 0; i < 600; i++) {
            expected.add("entry " + i);
            written.add("entry " + i);
            if (i % 100 == 7) {
                written.publish();
            }
        }
        written.publish();
        var log = new TransparencyLogReader(folder);
        TransparencyLogReader.Head head = log.head();
        assertNotNull(head);
        assertEquals(600, head.checkpoint().size());
        assertEquals(expected, entries(log, 600));
        assertEquals(expected.subList(0, 108), entries(log, 108));
        Files.delete(folder.resolve("tile/entries/000.p/108"));
        assertEquals(expected.subList(0, 108), entries(log, 108));
        Files.write(folder.resolve("tile/entries/001"), new byte[] {0, 9});
        assertThrows(IOException.class, () -> entries(log, 600));
        Files.delete(folder.resolve("tile/entries/001"));
        assertThrows(IOException.class, () -> entries(log, 600));
    }

    @Test
    void whereThereIsNoLogThereIsNoHead() throws IOException {
        var log = new TransparencyLogReader(folder);
        assertNull(log.head());
        assertEquals(List.of(), log.anchorFiles());
        Files.writeString(folder.resolve("checkpoint"), "nonsense\n");
        assertThrows(IOException.class, log::head);
    }

    @Test
    void anchorsComeBySize() throws IOException {
        var written = new TestLog(folder);
        Path anchors = Files.createDirectories(folder.resolve("anchors"));
        for (int i = 1; i <= 12; i++) {
            written.add("entry " + i);
            Files.copy(written.publish(), anchors.resolve(i + ".note"));
        }
        Files.writeString(anchors.resolve("7-1.tsr"), "a stamp");
        Files.writeString(anchors.resolve("7.tsr"), "no anchor's name");
        List<TransparencyLogReader.AnchorFile> files = new TransparencyLogReader(folder).anchorFiles();
        var sizes = new ArrayList<Long>();
        for (TransparencyLogReader.AnchorFile file : files) {
            sizes.add(Objects.requireNonNull(TransparencyLogReader.Head.parse(file.note()))
                    .checkpoint()
                    .size());
        }
        assertEquals(List.of(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 11L, 12L), sizes);
        assertEquals("7-1.tsr", files.get(6).stamps().getFirst().name());
        assertEquals(1, files.stream().mapToInt(file -> file.stamps().size()).sum());
    }
}
