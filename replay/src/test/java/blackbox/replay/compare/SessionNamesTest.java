package blackbox.replay.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.divergence.RecordedEvents;
import blackbox.replay.divergence.RecordedEvents.Guest;
import java.io.IOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Which ids in the names of agents' records stand for each other.
class SessionNamesTest {
    private static final String SESSIONS = "/home/agent/.pi/agent/sessions/--workspace--/";
    private static final long SECOND = 1_000_000_000;
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH-mm-ss-SSS'Z'").withZone(ZoneOffset.UTC);

    /// A name as pi gives it: `$` is the time, `@` the time of a UUID of version 7.
    private static final String PI = "$_@-75e0-b0cf-025e62414343.jsonl";

    private static final String OTHER = "$_@-735f-b687-6b4f0488bb87.jsonl";
    private static final String A = "3fb3357d-0c1e-4a02-8a61-0d5f4a3e9b21";
    private static final String B = "90c1e6fa-7d33-4b11-9f02-c2a81d07e6f4";

    /// Events of an agent that creates files.
    ///
    /// @param behindNs how old the times in their names are
    private static RecordedEvents created(long seed, long behindNs, String... names) {
        var events = new RecordedEvents(seed).open();
        Guest node = events.fork(events.init, "node");
        events.exec(node, "/usr/bin/node", "pi");
        events.pass(100 * SECOND);
        for (String name : names) {
            events.pass(2 * SECOND);
            Instant when = Instant.EPOCH.plusNanos(events.nowNs() - behindNs);
            String hex = "%012x".formatted(when.toEpochMilli());
            String path =
                    name.replace("$", TIME.format(when)).replace("@", hex.substring(0, 8) + "-" + hex.substring(8));
            events.create(node, path.startsWith("/") ? path : SESSIONS + path, RecordedEvents.WRITE_CREATE);
        }
        return events;
    }

    private static SessionNames of(RecordedEvents one, RecordedEvents other) throws IOException {
        return SessionNames.of(one.source(), other.source());
    }

    @Test
    void whatEachSideDrewStandsForTheOther() throws IOException {
        SessionNames names = of(created(1, 4 * SECOND, PI, A + ".jsonl"), created(2, 3 * SECOND, OTHER, B + ".jsonl"));
        assertTrue(names.with(Map.of()).standFor("session " + A, "session " + B));
        assertEquals(1, names.rules().size());
    }

    @ParameterizedTest
    @CsvSource({
        "a.jsonl, b.jsonl",
        "/home/agent/" + A + ".jsonl, /home/agent/" + B + ".jsonl",
        A + ".jsonl, " + B + ".txt",
        A + ".jsonl, x-" + B + ".jsonl",
        A + "." + A + ".jsonl, " + B + "." + B + ".jsonl",
        "3fb3357d-0c1e-4a02-8a61-0d5f4a3e9b21.jsonl, 3fb3357d-0c1e-4a02-8a61-0d5f4a3e9b22.jsonl"
    })
    void otherNamesDoNot(String one, String other) throws IOException {
        assertEquals(
                SessionNames.NONE.rules(),
                of(created(1, 0, one), created(2, 0, other)).rules());
    }

    /// Of the time in the name, and of that in the id.
    @ParameterizedTest
    @ValueSource(longs = {62 * SECOND, -3 * SECOND})
    void timesMustBeTheirSides(long behindNs) throws IOException {
        assertTrue(of(created(1, 0, PI), created(2, behindNs, OTHER)).rules().isEmpty());
        String id = "@-735f-b687-6b4f0488bb87.jsonl";
        String first = "@-75e0-b0cf-025e62414343.jsonl";
        assertFalse(of(created(1, 0, first), created(2, 0, id)).rules().isEmpty());
        assertTrue(of(created(1, 0, first), created(2, behindNs, id)).rules().isEmpty());
    }

    @Test
    void swappedIdsDiffer() throws IOException {
        assertTrue(of(created(1, 0, A + ".jsonl", B + ".jsonl"), created(2, 0, B + ".jsonl", A + ".jsonl"))
                .rules()
                .isEmpty());
    }

    @Test
    void oneIdStandsForOne() throws IOException {
        String c = "0d6f1c55-2b7a-4c3d-8e9f-a1b2c3d4e5f6";
        assertTrue(of(created(1, 0, A + ".jsonl", B + ".jsonl"), created(2, 0, c + ".jsonl", c + ".jsonl"))
                .rules()
                .isEmpty());
    }

    @Test
    void whatRequestsShowedComesFirst() throws IOException {
        String c = "0d6f1c55-2b7a-4c3d-8e9f-a1b2c3d4e5f6";
        SessionNames names = of(created(1, 0, A + ".jsonl"), created(2, 0, B + ".jsonl"));
        assertTrue(names.with(Map.of(A, c)).standFor(A, c));
        assertFalse(names.with(Map.of(A, c)).standFor(A, B));
        assertFalse(names.with(Map.of(c, B)).standFor(A, B));
    }
}
