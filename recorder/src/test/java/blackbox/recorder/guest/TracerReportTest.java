package blackbox.recorder.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class TracerReportTest {

    @Test
    void itSaysWhatTheTracerSaid() {
        assertEquals(
                new TracerReport(List.of(3L, 0L), 0xffff_ffff_8100_0000L, 77, AgentMounts.NONE, "no such function"),
                TracerReport.of("{\"cpuSeq\": [3, -1], \"emitAddress\": 18446744071578845184, \"agentCgroup\": 77,"
                        + " \"undrawn\": \"no such function\"}"));
    }

    @Test
    void whatItDoesNotSayIsNotKnown() {
        for (String nothing : List.of("", "{", "{}", "[]", "{\"emitAddress\": 0, \"undrawn\": null}")) {
            assertEquals(TracerReport.NONE, TracerReport.of(nothing), nothing);
        }
    }
}
