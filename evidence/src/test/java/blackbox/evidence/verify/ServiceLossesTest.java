package blackbox.evidence.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// A service's own record has no guest whose tracer could account for anything; nothing else may pass for one.
class ServiceLossesTest {
    private static final String SERVICE = "{\"service\":\"access\"}";
    private static final Event ASKED =
            new Event.Access(Kind.ACCESS_REQUEST, EventHeader.host(2), "GET /x", null, null, null, "{}");
    private static final Event OF_AGENT = new Event.AgentStart(EventHeader.host(2), "{}");
    private static final Event OF_GUEST = new Event.ProcessRunning(
            new EventHeader(2, Source.GUEST, new GuestOrigin(0, 1), null, Marks.NONE), Text.of("/bin/true"));

    /// From which event on losses are unknown in a run that is closed, or null.
    private static @Nullable Long unknownFrom(String opening, Event... events) {
        var account = new EventAccount();
        var row = new Row();
        long index = 0;
        EventRows.fill(new Event.RunOpen(EventHeader.host(1), null, opening), row);
        account.see(index++, row);
        for (Event each : events) {
            EventRows.fill(each, row);
            account.see(index++, row);
        }
        EventRows.fill(new Event.RunClose(EventHeader.host(3), index, 0, null, null, null), row);
        account.see(index, row);
        Losses losses = account.losses(false);
        assertEquals(losses.isKnown(), account.unknownBecause().isEmpty());
        return losses.unknownFrom();
    }

    @Test
    void aServicesRecordIsKnownToItsEnd() {
        assertNull(unknownFrom(SERVICE, ASKED));
        assertNull(unknownFrom(SERVICE));
    }

    @Test
    void anAgentsRunIsNot() {
        assertNotNull(unknownFrom("{}", ASKED));
        assertNotNull(unknownFrom(SERVICE, OF_AGENT, ASKED));
        assertNotNull(unknownFrom(SERVICE, OF_GUEST));
        for (String other : List.of(
                "{\"service\":\"other\"}",
                "{\"service\":{\"service\":\"access\"}}",
                "{\"command\":[\"service\",\"access\"],\"start\":{\"service\":\"access\"}}",
                "{\"service\":\"access\",\"service\":\"\"}",
                "[]",
                "")) {
            assertNotNull(unknownFrom(other, ASKED), other);
        }
    }

    /// What was recorded before the service was killed is known.
    @Test
    void whatIsNotClosedEndsWithItsLastEvent() {
        var account = new EventAccount();
        var row = new Row();
        EventRows.fill(new Event.RunOpen(EventHeader.host(1), null, SERVICE), row);
        account.see(0, row);
        EventRows.fill(ASKED, row);
        account.see(1, row);
        assertEquals(2, account.losses(false).unknownFrom());
    }
}
