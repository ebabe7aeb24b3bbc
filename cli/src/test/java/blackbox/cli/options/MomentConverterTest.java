package blackbox.cli.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.evidence.store.Recordings;
import blackbox.recorder.keys.KeyFile;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.Spool;
import blackbox.replay.Moment;
import blackbox.replay.ReplayException;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.TypeConversionException;

/// Moments as people write them, in a run that spans midnight.
class MomentConverterTest {

    private static final Instant START = Instant.parse("2026-11-21T23:59:30Z");
    private static final int EVENTS = 5;

    @TempDir
    Path data;

    private RunId run = RunId.create(START, new Random(1));

    /// An event each 20 s: at 23:59:30, :50, 00:00:10, :30, :50. The heartbeat that ends the batch comes
    /// last.
    @BeforeEach
    void record() throws Exception {
        var key = KeyFile.loadOrCreate(data.resolve("keys"), "recorder");
        Instant end = START.plusSeconds(20 * (EVENTS - 1));
        var sealer = new RunSealer(run, key, Spool.create(data.resolve("spool"), run), InstantSource.fixed(end));
        for (int i = 0; i < EVENTS; i++) {
            long atNs = START.plusSeconds(20L * i).getEpochSecond() * 1_000_000_000L;
            sealer.append(new Event.VmLifecycle(EventHeader.host(atNs), "E" + i, null));
        }
        sealer.seal();
    }

    private long index(String moment) throws Exception {
        return new MomentConverter()
                .convert(moment)
                .locate(Recordings.unchecked(data), run)
                .index();
    }

    private void refuse(String moment) {
        Moment parsed = new MomentConverter().convert(moment);
        var failure = assertThrows(ReplayException.class, () -> parsed.locate(Recordings.unchecked(data), run));
        assertEquals(ReplayException.Code.BAD_INPUT, failure.code());
    }

    @Test
    void aMomentIsTheLastEventAtOrBeforeIt() throws Exception {
        assertEquals(3, index("3"));
        assertEquals(0, index("23:59:30"));
        assertEquals(0, index("23:59:49.999999999"));
        assertEquals(1, index("23:59:50"));
        assertEquals(2, index("00:00:10"));
        assertEquals(2, index("2026-11-22T00:00:29Z"));
        assertEquals(3, index("2026-11-22T01:00:30+01:00"));
        assertEquals(3, index("00:00:49"));
    }

    @Test
    void whatIsOutsideOfTheRunIsBadInput() {
        refuse("6");
        refuse("23:59:29");
        refuse("00:00:51");
        refuse("2026-11-21T23:59:29Z");
        refuse("2026-11-22T00:00:51Z");
        refuse("9999-11-22T00:00:51Z");
    }

    @Test
    void whatIsNotAMomentIsRefused() {
        for (String text : new String[] {"", "-1", "25:00:00", "yesterday", "2026-11-22", "12:3", "1e3"}) {
            assertThrows(TypeConversionException.class, () -> new MomentConverter().convert(text), text);
        }
    }
}
