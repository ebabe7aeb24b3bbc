package blackbox.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.fuzz.planted.PlantedFault;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// That `make fuzz` finds a fault that it was not told of, and says where its input is.
class FuzzTest {
    private static final int SECONDS_MAX = 60;

    @TempDir
    Path work;

    @Test
    void aPlantedFaultIsFoundAndItsInputKept() throws Exception {
        Fuzz.Result result = new Fuzz(Path.of(""), work, SECONDS_MAX).run(PlantedFault.TARGET);
        Fuzz.Told told = result.told();
        assertEquals(1, told.findings().size(), result.toString());
        assertFalse(result.failed());
        Path finding = told.findings().iterator().next();
        assertTrue(Fuzz.table(List.of(result)).contains(finding.toString()));
        byte[] input = Files.readAllBytes(finding);
        assertTrue(new String(input, StandardCharsets.ISO_8859_1).startsWith("BBX1~"));
        assertThrows(IllegalStateException.class, () -> Execution.accepts(PlantedFault.TARGET, input));
        assertTrue(told.executions() > 0 && told.coverage() > 0, result.toString());
    }
}
