package blackbox.replay.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.replay.Moment.Position;
import blackbox.schemas.Hash;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.event.Protection;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventViews;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Of a file that is said to lack nothing, nothing may be missing. Times are in seconds; the disk that is shown has
/// what was
/// written before second 9, the moment is second 10.
class LastWritesTest {

    private static final long SECOND = 1_000_000_000L;
    private static final long WRITE_ONLY = 1;
    private static final Text LOG = Text.of("/workspace/log");
    private static final Text OTHER = Text.of("/workspace/other");
    private static final Duration A_SECOND = Duration.ofSeconds(1);

    private final EventViews views = new EventViews();
    private final Row row = new Row();

    private LastWrites writes(Event... events) {
        long index = 0;
        var writes = new LastWrites(Set.of(LOG, OTHER), null, new Position(99, 10 * SECOND), 9 * SECOND);
        for (Event event : events) {
            EventRows.fill(event, row);
            long at = event.header().atNs();
            index = at > 10 * SECOND ? Math.max(99, index) + 1 : index + 1;
            if (!writes.take(index, views.of(row))) {
                break;
            }
        }
        return writes;
    }

    private static EventHeader guest(double second) {
        var process = new ProcessRef(7, 7, 1, 1, Text.of("sh"), 1000);
        return new EventHeader((long) (second * SECOND), Source.GUEST, new GuestOrigin(0, 1), process, Marks.NONE);
    }

    private static Event open(double second, Text path) {
        return new Event.FileOpen(guest(second), path, WRITE_ONLY, null, false, 3);
    }

    private static Event wrote(double second, Text path) {
        return new Event.FileIo(guest(second), path, 0, 5, 0, 1, 0L, 5L, null);
    }

    private static Event renamed(double second, Text from, Text to) {
        return new Event.FileChange(guest(second), Kind.FILE_RENAME, from, to, null, null, null, null, 0);
    }

    private static Event lost(double second) {
        return new Event.RecorderLoss(EventHeader.host((long) (second * SECOND)), 3, "ring", null);
    }

    /// So late that the tracer must have reported all that open files had been written by the moment.
    private static Event late() {
        return wrote(17.5, Text.of("/elsewhere"));
    }

    private static @Nullable Duration ofLog(LastWrites writes) {
        return writes.mayLack(LOG, true);
    }

    @Test
    void whatWasWrittenBeforeTheDiskWasSyncedIsThere() {
        assertEquals(Duration.ZERO, ofLog(writes(open(5, LOG), wrote(8, LOG), late())));
    }

    @Test
    void whatWasWrittenSinceMayBeMissing() {
        assertEquals(A_SECOND, ofLog(writes(open(5, LOG), wrote(9.5, LOG), late())));
    }

    @Test
    void aReportAfterTheMomentCountsWhoeverHasOpenedTheFileSince() {
        assertEquals(A_SECOND, ofLog(writes(open(5, LOG), wrote(14, LOG), late())));
        assertEquals(A_SECOND, ofLog(writes(open(5, LOG), open(11, LOG), wrote(14, LOG), late())));
    }

    @Test
    void whileTheReportMayStillComeItIsNotKnown() {
        assertNull(ofLog(writes(open(5, LOG), wrote(8, LOG))));
        assertNull(ofLog(writes(open(5, LOG), wrote(12, OTHER))));
        Event host = new Event.RecorderHeartbeat(EventHeader.host(18 * SECOND), 1, Hash.ZERO, 9, 0, null);
        assertNull(ofLog(writes(open(5, LOG), host)), "the host's own events say nothing of the tracer");
        assertEquals(Duration.ZERO, ofLog(writes(wrote(8, OTHER))), "nobody has opened it for writing");
    }

    @Test
    void whereEventsWereLostSinceItIsNotKnown() {
        assertNull(ofLog(writes(open(5, LOG), lost(9.5), late())));
        assertNull(ofLog(writes(lost(12), late())), "its opening may be what was lost");
        assertEquals(Duration.ZERO, ofLog(writes(open(5, LOG), lost(8), late())));
    }

    @Test
    void aNameThatIsLostAfterTheMomentTakesTheReportWithIt() {
        assertEquals(A_SECOND, ofLog(writes(open(5, LOG), renamed(11, LOG, Text.of("/workspace/log.1")), late())));
    }

    @Test
    void whatIsBelowAFolderThatWasJustRenamedMayBeOlder() {
        var writes = writes(renamed(9.5, Text.of("/before"), Text.of("/workspace")), late());
        assertEquals(A_SECOND, ofLog(writes));
    }

    @Test
    void aMappingFollowsItsFile() {
        Text before = Text.of("/workspace/before");
        Event mapped = new Event.FileMap(guest(4), before, new Protection(3), 0);
        assertEquals(A_SECOND, ofLog(writes(mapped, renamed(5, before, LOG), late())));
    }

    @Test
    void anotherNameMayHaveBeenWrittenTo() {
        assertNull(writes(late()).mayLack(LOG, false));
    }
}
