package blackbox.evidence.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.parquet.EventFileReader;
import blackbox.evidence.parquet.ForgedFooter;
import blackbox.evidence.parquet.MalformedParquetException;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.schemas.table.DataFileName;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Whoever has the ingest key gives a data file another footer and a true seal. The leaves are what they were, and
/// yet other engines would read other values, or none.
final class ForgedFooterTest {

    @TempDir
    Path folder;

    @Test
    void theFooterAsItIsHolds() throws Exception {
        assertEquals(Integrity.VERIFIED, verify(forged(null)).integrity());
    }

    @ParameterizedTest
    @EnumSource
    void anotherFooterIsFound(ForgedFooter.Lie lie) throws Exception {
        TestRun run = forged(lie);
        Verification verification = verify(run);
        assertEquals(Integrity.TAMPERED, verification.integrity(), verification::toString);
    }

    /// Of what is said in the footer itself; counts of pages show only with the pages.
    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"PAGE_COUNTS", "PAGE_ENCODINGS"})
    void nobodyReadsOn(ForgedFooter.Lie lie) throws Exception {
        TestRun run = forged(lie);
        Path file = folder.resolve("warehouse")
                .resolve(Recordings.unchecked(folder)
                        .dataFiles(run.run)
                        .getFirst()
                        .key());
        assertThrows(
                MalformedParquetException.class,
                () -> EventFileReader.open(file, run.run).close());
    }

    private TestRun forged(ForgedFooter.@org.jspecify.annotations.Nullable Lie lie) throws Exception {
        TestRun run = TestEvents.smallBuild(new TestRun(folder), 3);
        Path file = run.table();
        if (lie != null) {
            ForgedFooter.change(file, lie);
            DataFileName name = DataFileName.parse(String.valueOf(file.getFileName()));
            assertNotNull(name);
            run.sealFile(file, name, run.key);
        }
        return run;
    }

    private Verification verify(TestRun run) throws Exception {
        return RunVerifier.verify(Recordings.unchecked(folder), run.run, List.of(run.key.verifier()));
    }
}
