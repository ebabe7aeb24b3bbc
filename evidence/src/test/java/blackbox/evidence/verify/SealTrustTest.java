package blackbox.evidence.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.storage.MemoryStore;
import blackbox.evidence.store.DataFile;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.table.DataFileName;
import blackbox.schemas.table.EventsTable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What is remembered of a file holds for what the file was, wherever it is stored.
final class SealTrustTest {

    @TempDir
    Path folder;

    @Test
    void aFileThatIsReplacedInAnObjectStoreIsCheckedAgain() throws Exception {
        TestRun run = TestEvents.smallBuild(new TestRun(folder), 2);
        Path data = run.table();
        Path seal = data.resolveSibling(data.getFileName() + DataFileName.SEAL_SUFFIX);
        var store = new MemoryStore();
        String key = EventsTable.dataFolder(run.run) + "/" + data.getFileName();
        byte[] octets = Files.readAllBytes(data);
        store.put(key, data);
        store.put(key + DataFileName.SEAL_SUFFIX, seal);
        var trust = new SealTrust(
                new TransparencyLogReader(new DataFolder(folder).log()), () -> List.of(run.key.verifier()));
        DataFile file = Recordings.unchecked(folder, store).dataFiles(run.run).getFirst();
        assertNull(trust.faultOf(run.run, file));
        byte[] changed = octets.clone();
        changed[octets.length / 2] ^= 1;
        replace(store, key, changed);
        assertNotNull(trust.faultOf(run.run, file), "it was changed");
        replace(store, key, octets);
        assertNull(trust.faultOf(run.run, file), "it was put back");
        assertEquals(
                1,
                Recordings.unchecked(folder, store)
                        .trusting(trust)
                        .committedFiles(run.run)
                        .size());
    }

    private void replace(MemoryStore store, String key, byte... octets) throws Exception {
        store.delete(key);
        store.put(key, Files.write(folder.resolve("replaced"), octets));
    }
}
