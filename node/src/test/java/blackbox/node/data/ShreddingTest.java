package blackbox.node.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.files.ProcessLock;
import blackbox.replay.kept.KeptStore;
import blackbox.replay.seek.IndexLock;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.ShredMark;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Nothing of what a run saw comes back after it was shredded.
final class ShreddingTest {

    private static final Instant AT = Instant.parse("2026-11-25T03:00:00Z");

    @TempDir
    Path folder;

    @Test
    void aRunIsNotShreddedWhileItsMemoryIsBeingIndexed() throws Exception {
        var data = new DataFolder(folder);
        RunId run = RunId.create(AT, new Random(1));
        var mark = new ShredMark(run, AT, "asked for");
        Path capture = Files.createDirectories(data.captures(run)).resolve("frames");
        Files.writeString(capture, "what it saw");
        try (IndexLock indexing = IndexLock.tryTake(data, run)) {
            assertNotNull(indexing);
            Path memory = Files.writeString(data.index(run).resolve("pages"), "what its memory held");
            assertInstanceOf(Shredding.BeingIndexed.class, Shredding.shred(data, mark));
            assertTrue(Files.exists(memory) && Files.exists(capture), "all or nothing");
        }
        var done = assertInstanceOf(Shredding.Done.class, Shredding.shred(data, mark));
        assertEquals(List.of(data.index(run)), done.folders());
        assertFalse(Files.exists(capture) || Files.exists(data.index(run)));
    }

    /// What a killed process left of its re-execution goes, too.
    @Test
    void aRunIsNotShreddedWhileSomebodyIsLandedInIt() throws Exception {
        var data = new DataFolder(folder);
        RunId run = RunId.create(AT, new Random(3));
        var mark = new ShredMark(run, AT, "asked for");
        Path capture = Files.createDirectories(data.captures(run)).resolve("kept-0badcafe-rr.enc");
        Files.writeString(capture, "what it saw");
        Path left = Files.createDirectories(data.cache().resolve(".kept-1/captures"));
        Files.writeString(left.resolve("rr"), "what it saw");
        try (ProcessLock landed = KeptStore.lockShared(data, run)) {
            assertNotNull(landed);
            assertInstanceOf(Shredding.BeingIndexed.class, Shredding.shred(data, mark));
            assertTrue(Files.exists(capture) && Files.exists(left), "all or nothing");
        }
        var done = assertInstanceOf(Shredding.Done.class, Shredding.shred(data, mark));
        assertEquals(List.of(data.index(run), data.kept(run)), done.folders());
        assertFalse(Files.exists(capture) || Files.exists(data.kept(run)) || Files.exists(left));
    }

    @Test
    void aRunWithoutAnIndexHasNoneAfterwards() throws Exception {
        var data = new DataFolder(folder);
        RunId run = RunId.create(AT, new Random(2));
        Files.createDirectories(data.captures(run));
        var done = assertInstanceOf(Shredding.Done.class, Shredding.shred(data, new ShredMark(run, AT, "asked for")));
        assertEquals(List.of(), done.folders());
        assertFalse(Files.exists(data.index(run).getParent()), "no verdict, no folder");
    }
}
