package blackbox.vm.replay;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.files.AtomicFiles;
import blackbox.files.AtomicFiles.Step;
import blackbox.vm.VmException;
import blackbox.vm.replay.ReplayCheckpoint.Rest;
import blackbox.vm.replay.ReplayCheckpoint.Tables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ReplayCheckpointTest {
    private static final long POSITION = 12_345;
    private static final ReplayCheckpoint MACHINE = new ReplayCheckpoint(
            new Rest(POSITION, 678, new byte[] {1, 2}, new byte[] {3}, Map.of("console", 9L)), Tables.NONE);

    @TempDir
    Path folder;

    @Test
    void whatIsKeptIsDurableUnderItsName() throws VmException {
        Path file = folder.resolve("at-" + POSITION);
        var steps = new ArrayList<Step>();
        MACHINE.write(AtomicFiles.watchedBy(steps::add), file);
        assertEquals(List.of(Step.WRITTEN, Step.RENAMED, Step.SYNCED), steps);
        Rest read = ReplayCheckpoint.read(file, POSITION).rest();
        assertEquals(678, read.logFrom());
        assertArrayEquals(new byte[] {1, 2}, read.head());
        assertArrayEquals(new byte[] {3}, read.devices());
        assertEquals(Map.of("console", 9L), read.written());
        assertThrows(VmException.class, () -> ReplayCheckpoint.read(file, POSITION + 1));
    }

    @ParameterizedTest
    @EnumSource(Step.class)
    void acrashLeavesAWholeMachineOrNone(Step crash) throws VmException {
        Path file = folder.resolve("at-" + POSITION);
        AtomicFiles crashing = AtomicFiles.watchedBy(step -> {
            if (step == crash) {
                throw new IOException("crash");
            }
        });
        assertThrows(VmException.class, () -> MACHINE.write(crashing, file));
        boolean kept = crash != Step.WRITTEN;
        assertEquals(kept, Files.exists(file));
        assertEquals(
                kept ? Set.of(POSITION) : Set.of(),
                ReplayCheckpoints.open(folder).positions());
        if (kept) {
            ReplayCheckpoint.read(file, POSITION);
        }
    }
}
