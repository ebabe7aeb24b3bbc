package blackbox.query.sides;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.event.Finding;
import blackbox.schemas.event.FindingDetail.SidesDiffer;
import blackbox.schemas.row.Row;
import blackbox.schemas.view.EventViews;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class SidesCollectorTest {

    private static final SidesDiffer FORGED =
            new SidesDiffer(Finding.SOURCE_FORGED, "tcp", "10.0.2.99:5", "192.0.2.1:80", null, null, null, 3L, null, 1);

    private final SidesCollector collector = new SidesCollector();
    private final EventViews views = new EventViews();
    private final Row row = new Row();
    private long index;

    private void see(Event event) {
        EventRows.fill(event, row);
        collector.see(views.of(row), index++);
    }

    private void run(boolean forges, SidesDiffer... sealed) {
        see(new Event.RunOpen(EventHeader.host(1), null, "{\"network\":\"gateway\"}"));
        see(new Event.TracerReady(EventHeader.host(1), "{\"attached\":[\"tcp_connect\"]}"));
        see(new Event.EgressPolicy(EventHeader.host(1), "sha256:00", "{}"));
        see(new Event.NetFlow(
                EventHeader.host(2),
                "tcp",
                new Endpoint(forges ? "10.0.2.99" : "10.0.2.15", 5),
                new Endpoint("192.0.2.1", 80),
                null,
                0,
                0,
                1L,
                0L,
                "open"));
        for (SidesDiffer each : sealed) {
            see(new Event.RecorderFinding(EventHeader.host(2), each));
        }
        see(new Event.RunClose(EventHeader.host(4), index, 0, 0, null, null));
    }

    @Test
    void whatWasSealedIsFoundAgain() throws Exception {
        run(true, FORGED);
        GuestAndHost sides = collector.result(true);
        assertTrue(sides.compared());
        assertEquals(List.of(new GuestAndHost.Sealed(4, FORGED)), sides.findings());
        assertEquals(List.of(), sides.limits());
        var text = new StringWriter();
        GuestAndHostText.write(new PrintWriter(text, true), sides);
        assertTrue(text.toString().contains("SOURCE_FORGED tcp 10.0.2.99:5 to 192.0.2.1:80"), text::toString);
        assertTrue(
                text.toString().contains("the guest's event: none, the host's: 3, found in event 4"), text::toString);
        var json = new StringWriter();
        try (JsonGenerator out = new JsonFactory().createGenerator(json)) {
            out.writeStartObject();
            GuestAndHostJson.writeField(out, sides);
            out.writeEndObject();
        }
        assertEquals(
                "{\"guestAndHost\":{\"compared\":true,\"connections\":0,\"datagrams\":0,\"findings\":[{"
                        + "\"finding\":\"SOURCE_FORGED\",\"protocol\":\"tcp\",\"local\":\"10.0.2.99:5\","
                        + "\"remote\":\"192.0.2.1:80\",\"host\":null,\"said\":null,\"guestEvent\":null,"
                        + "\"hostEvent\":3,\"unknown\":null,\"index\":4,\"count\":1}]}}",
                json.toString());
    }

    @Test
    void findingThatWasLeftOutIsMissed() {
        run(true);
        assertTrue(
                collector.result(true).limits().getFirst().contains("0 findings are not found again, 1 are missing"));
    }

    @Test
    void findingThatDoesNotFollowIsSaid() {
        run(false, FORGED);
        assertTrue(
                collector.result(true).limits().getFirst().contains("1 findings are not found again, 0 are missing"));
    }

    @Test
    void runThatIsStillRecordedMayLackTheNewest() {
        see(new Event.RunOpen(EventHeader.host(1), null, "{\"network\":\"gateway\"}"));
        see(new Event.TracerReady(EventHeader.host(1), "{\"attached\":[\"tcp_connect\"]}"));
        see(new Event.NetFlow(
                EventHeader.host(2),
                "tcp",
                new Endpoint("10.0.2.99", 5),
                new Endpoint("192.0.2.1", 80),
                null,
                0,
                0,
                1L,
                0L,
                "open"));
        assertEquals(List.of(), collector.result(false).limits());
    }

    @Test
    void olderTracerIsSaid() {
        see(new Event.RunOpen(EventHeader.host(1), null, "{\"network\":\"gateway\"}"));
        see(new Event.TracerReady(EventHeader.host(1), "{\"attached\":[\"do_exit\"],\"failed\":[\"tcp_connect\"]}"));
        see(new Event.EgressPolicy(EventHeader.host(1), "sha256:00", "{}"));
        GuestAndHost sides = collector.result(true);
        assertTrue(!sides.compared());
        assertTrue(sides.limits().getFirst().contains("did not tell of connections before they were sent"));
        var text = new StringWriter();
        GuestAndHostText.write(new PrintWriter(text, true), sides);
        assertEquals("", text.toString());
    }
}
