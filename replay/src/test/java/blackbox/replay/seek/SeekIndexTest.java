package blackbox.replay.seek;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.files.AtomicFiles;
import blackbox.files.AtomicFiles.Step;
import blackbox.replay.ReplayException;
import blackbox.replay.seek.SeekIndex.Place;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SeekIndexTest {
    private static final Place FIRST = new Place(1, 1_000, 10);
    private static final Place SECOND = new Place(2, 2_000, 20);

    @TempDir
    Path folder;

    @Test
    void whatIsSavedIsDurableUnderItsName() throws ReplayException {
        var steps = new ArrayList<Step>();
        SeekIndex index = SeekIndex.open(folder, AtomicFiles.watchedBy(steps::add));
        index.add(FIRST);
        index.save(false);
        assertEquals(List.of(Step.WRITTEN, Step.RENAMED, Step.SYNCED), steps);
        assertEquals(FIRST, SeekIndex.open(folder).floor(1));
    }

    @ParameterizedTest
    @EnumSource(Step.class)
    void aCrashWhileSavingLeavesAnIndex(Step crash) throws ReplayException {
        save(FIRST, false);
        SeekIndex crashing = SeekIndex.open(folder, AtomicFiles.watchedBy(step -> {
            if (step == crash) {
                throw new IOException("crash");
            }
        }));
        crashing.add(SECOND);
        assertThrows(ReplayException.class, () -> crashing.save(true));
        SeekIndex left = SeekIndex.open(folder);
        assertEquals(FIRST, left.floor(1));
        assertEquals(crash == Step.WRITTEN ? FIRST : SECOND, left.floor(2));
        assertEquals(crash != Step.WRITTEN, left.isWhole());
    }

    @Test
    void whatOthersSavedMeanwhileIsKept() throws ReplayException {
        SeekIndex early = SeekIndex.open(folder);
        early.add(SECOND);
        save(FIRST, true);
        assertFalse(early.isWhole());
        early.save(false);
        SeekIndex left = SeekIndex.open(folder);
        assertEquals(FIRST, left.floor(1));
        assertEquals(SECOND, left.floor(2));
        assertTrue(left.isWhole());
    }

    private void save(Place place, boolean whole) throws ReplayException {
        SeekIndex index = SeekIndex.open(folder);
        index.add(place);
        index.save(whole);
    }
}
