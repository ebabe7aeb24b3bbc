package blackbox.replay.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.FindingDetail;
import blackbox.schemas.row.Column;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventTapeTest {
    @TempDir
    Path folder;

    @Test
    void whatWasAddedCanBeReadFromAnyEvent() throws Exception {
        try (var tape = new EventTape(folder)) {
            for (int i = 0; i < 5; i++) {
                tape.accept(event(i));
            }
            tape.finish();
            assertNull(tape.failure());
            try (EventTape.Cursor cursor = tape.open(3)) {
                assertTrue(cursor.next());
                assertEquals(3, cursor.index());
                assertEquals(1_003, cursor.row().number(Column.AT_NS));
                assertTrue(cursor.next());
                assertFalse(cursor.next());
            }
        }
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(0, left.count());
        }
    }

    /// Whoever feeds it keeps reading, so that no machine waits for room in a pipe, and learns of the failure
    /// here.
    @Test
    void whatCannotBeStoredIsReported() throws Exception {
        try (var tape = new EventTape(folder, 100)) {
            for (int i = 0; i < 50; i++) {
                tape.accept(event(i));
            }
            IOException why = tape.failure();
            assertNotNull(why);
            assertTrue(String.valueOf(why.getMessage()).contains("more than 100 octets"), why::getMessage);
            assertEquals(why, assertThrows(IOException.class, tape::finish));
        }
    }

    private static Event event(int i) {
        return new Event.RecorderFinding(EventHeader.host(1_000 + i), new FindingDetail.GuestBack(i));
    }
}
