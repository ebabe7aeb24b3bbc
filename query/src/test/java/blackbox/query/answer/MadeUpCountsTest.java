package blackbox.query.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.query.brief.TouchedInBrief;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Text;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A guest that lies says of each of its acts that it moved as many octets as a number can hold: their sums
/// are lower bounds, and neither negative nor small.
class MadeUpCountsTest {

    private static final int TIMES = 3;

    @TempDir
    Path folder;

    private TestRun run;

    @BeforeEach
    void record() throws Exception {
        run = new TestRun(folder).open("liar");
        for (int i = 0; i < TIMES; i++) {
            run.add(new Event.FileIo(
                    guest(), Text.of("/workspace/a"), Long.MAX_VALUE, Long.MAX_VALUE, 1, 1, 0L, 5L, null));
            run.add(new Event.NetFlow(
                    guest(),
                    "tcp",
                    new Endpoint("10.0.2.15", 40_000 + i % 2),
                    new Endpoint("192.0.2.7", 443),
                    null,
                    Long.MAX_VALUE,
                    Long.MAX_VALUE,
                    null,
                    null,
                    "closed"));
        }
        run.close(0);
        run.table();
    }

    private EventHeader guest() {
        var origin = new GuestOrigin(0, run.nextNumber(0));
        return new EventHeader(run.tick(), Source.GUEST, origin, TestEvents.process(7, 1, "liar"), Marks.NONE);
    }

    @Test
    void sumsOfFilesAndFlowsStopAtTheLargestNumber() throws Exception {
        Touched touched = TouchedCollector.collect(Recordings.unchecked(folder), run.run);
        Touched.FileUse file = touched.files().getFirst();
        assertEquals(Long.MAX_VALUE, file.bytesRead());
        assertEquals(Long.MAX_VALUE, file.bytesWritten());
        assertEquals(2, touched.egress().size());
        for (Touched.Flow flow : touched.egress()) {
            assertEquals(Long.MAX_VALUE, flow.bytesOut());
            assertEquals(Long.MAX_VALUE, flow.bytesIn());
        }
    }

    @Test
    void thoseOfPeersInBriefDoToo() throws Exception {
        var contacts = TouchedInBrief.collect(Recordings.unchecked(folder), run.run)
                .brief()
                .network();
        assertEquals(1, contacts.size());
        assertEquals(Long.MAX_VALUE, contacts.getFirst().bytesOut());
        assertEquals(Long.MAX_VALUE, contacts.getFirst().bytesIn());
    }
}
