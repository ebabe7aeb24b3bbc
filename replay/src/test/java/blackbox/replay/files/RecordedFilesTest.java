package blackbox.replay.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.store.Recordings;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunState;
import blackbox.replay.capture.Payload;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.files.RecordedFiles.Sealed;
import blackbox.replay.files.RecordedFiles.Unknown;
import blackbox.replay.output.KeptRun;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.row.Row;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// When it is not known what a run left: nothing is claimed then.
class RecordedFilesTest {
    @TempDir
    Path folder;

    private String why(RunFacts facts) throws Exception {
        RecordedFiles files = RecordedFiles.of(Recordings.unchecked(folder), facts);
        return assertInstanceOf(Unknown.class, files).why();
    }

    /// The same, with an end.
    private static RunFacts ended(@Nullable Integer exitCode, String detail) throws Exception {
        RunFacts facts = KeptRun.facts(RunState.CLOSED, detail);
        var end = new RunFacts.End(1, exitCode, null, new ObjectMapper().readTree(detail));
        return new RunFacts(facts.run(), facts.state(), facts.start(), end, 9, null, List.of(), null);
    }

    @Test
    void aRunWithoutAnEndIsNotClaimedToBeWhole() throws Exception {
        assertTrue(why(KeptRun.facts(RunState.TRUNCATED, "{}")).contains("without closing the run"));
        assertTrue(why(KeptRun.facts(RunState.OPEN, "{}")).contains("still being recorded"));
        assertTrue(why(ended(null, "{}")).contains("did not come to its end"));
        assertEquals(
                "the recorded disk's last writes are not sealed: the host's disk was full",
                why(ended(0, "{\"unsealed\":{\"blocks\":\"the host's disk was full\"}}")));
    }

    @Test
    void aRunWithoutALogOfItsDiskHasNothingToCompare() throws Exception {
        assertTrue(why(ended(0, "{}")).contains("without a log of its disk"));
    }

    @Test
    void aLogThatEndedEarlyOrAGuestThatWasKilledIsNotTheEnd() throws Exception {
        RunFacts facts = ended(0, "{}");
        var payload = Payload.of(Recordings.unchecked(folder), facts.run(), "blocks");
        var whole = new SealedCapture("blocks", payload, List.of(), null);
        var full = new SealedCapture("blocks", payload, List.of(), new SealedCapture.Ended(3, 3, "budget"));
        assertNull(new Sealed(whole, true).incomplete(facts));
        assertTrue(String.valueOf(new Sealed(full, true).incomplete(facts)).contains("--disk-log-max"));
        String killed = new Sealed(whole, false).incomplete(facts);
        assertNotNull(killed);
        assertTrue(killed.contains("before it had written everything"), killed);
    }

    @Test
    void onlyAGuestThatTurnedItsMachineOffDidSo() {
        assertTrue(Sealed.isPowerOff(row("SHUTDOWN", "{\"guest\":true,\"reason\":\"guest-shutdown\"}")));
        assertFalse(Sealed.isPowerOff(row("SHUTDOWN", "{\"guest\":true,\"reason\":\"guest-reset\"}")));
        assertFalse(Sealed.isPowerOff(row("SHUTDOWN", "{\"guest\":false,\"reason\":\"host-qmp-quit\"}")));
        assertFalse(Sealed.isPowerOff(row("RESUME", null)));
        var close = new Row();
        EventRows.fill(new Event.RunClose(EventHeader.host(1), 0, 0, 0, null, "{}"), close);
        assertFalse(Sealed.isPowerOff(close));
    }

    private static Row row(String name, @Nullable String detail) {
        var row = new Row();
        EventRows.fill(new Event.VmLifecycle(EventHeader.host(1), name, detail), row);
        return row;
    }
}
