package blackbox.evidence.tiles;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TileHashes;
import blackbox.evidence.log.TreeHasher;
import blackbox.evidence.log.TreeProver;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.TransparencyLogReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StaticRunLogTest {

    @TempDir
    Path folder;

    /// Read back as any client of static logs does: checkpoint, bundles, and proofs from tiles alone.
    @Test
    void aClientOfStaticLogsReadsARun() throws Exception {
        TestRun run = TestEvents.smallBuild(new TestRun(folder.resolve("data")), 60);
        run.table(0, 2, "PARQUET_VERSION v2");
        run.spool(2, run.batches.size());
        Path out = folder.resolve("tiles");
        var written = StaticRunLog.write(Recordings.unchecked(run.data), run.run, out);
        var client = new TransparencyLogReader(out);
        TransparencyLogReader.Head head = client.head();
        assertNotNull(head);
        Checkpoint checkpoint = head.checkpoint();
        assertEquals(run.run.origin(), checkpoint.origin());
        assertEquals(run.batches.getLast().endIndex(), checkpoint.size());
        assertEquals(checkpoint.size(), written.leaves());
        assertNotNull(head.note().signedBy(List.of(run.key.verifier())));

        List<byte[]> leaves = new ArrayList<>();
        client.entries(checkpoint.size(), (index, entry) -> leaves.add(entry));
        var prover = new TreeProver(new TileHashes(client, checkpoint.size()));
        assertEquals(checkpoint.root(), prover.root(checkpoint.size()));
        for (int index = 0; index < leaves.size(); index++) {
            var proof = prover.inclusion(index, checkpoint.size());
            assertEquals(checkpoint.root(), proof.root(new TreeHasher().leaf(leaves.get(index))));
        }
    }

    @Test
    void eventsThatDoNotLeadToTheSignedRootAreNotPublished() throws Exception {
        TestRun run = TestEvents.smallBuild(new TestRun(folder.resolve("data")), 3);
        run.table();
        TestRun other = TestEvents.smallBuild(new TestRun(folder.resolve("other"), run.run, run.key), 4);
        other.table();
        Path out = folder.resolve("tiles");
        replaceCheckpoint(run, other);
        assertThrows(IOException.class, () -> StaticRunLog.write(Recordings.unchecked(run.data), run.run, out));
        assertEquals(false, Files.exists(out.resolve("checkpoint")));
    }

    /// The other run's last batch goes to the end of this one's.
    private static void replaceCheckpoint(TestRun run, TestRun other) throws IOException {
        run.batches.removeLast();
        run.batches.add(other.batches.getLast());
        for (Path file : Recordings.entries(run.dataFolder())) {
            Files.delete(file);
        }
        run.spool(0, run.batches.size());
    }

    @Test
    void aRunWithoutACheckpointHasNoLog() throws Exception {
        TestRun run = new TestRun(folder.resolve("data")).open("nothing");
        var written = StaticRunLog.write(Recordings.unchecked(run.data), run.run, folder.resolve("tiles"));
        SignedNote note = written.note();
        assertNull(note);
        assertEquals(0, written.leaves());
    }
}
