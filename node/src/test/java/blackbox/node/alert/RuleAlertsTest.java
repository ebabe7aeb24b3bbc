package blackbox.node.alert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.recorder.guest.HostClock;
import blackbox.rules.RuleSet;
import blackbox.rules.sigma.SigmaReader;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// How many alerts a rule makes.
class RuleAlertsTest {
    private static final String RULE = """
            title: stopped
            id: stopped
            logsource: {product: blackbox, category: vm.lifecycle}
            detection: {stop: {what: STOP}, condition: stop}
            level: high
            """;

    private final RunId run = RunId.create(Instant.EPOCH, new Random(1));
    private final List<Alert> told = new ArrayList<>();
    private final Row row = new Row();
    private long index;

    private RuleAlerts alerts() throws Exception {
        RuleSet rules = RuleSet.of(SigmaReader.read("t.yml", RULE.getBytes(StandardCharsets.UTF_8)));
        return new RuleAlerts(run, rules, new HostClock(InstantSource.system()), told::add);
    }

    /// What is said of an event, with the events that follow from that.
    private List<JsonNode> see(RuleAlerts alerts, Event event) throws Exception {
        var said = new ArrayList<JsonNode>();
        EventRows.fill(event, row);
        for (Event alert : alerts.see(index++, row)) {
            said.add(detail(alert));
            EventRows.fill(alert, row);
            assertTrue(row.text(Column.WHAT).toString().equals("stopped"));
            assertTrue(alerts.see(index, row).isEmpty(), "nothing is said of an alert");
            alerts.sealed(index++, alert);
        }
        return said;
    }

    private static JsonNode detail(Event event) throws Exception {
        return new ObjectMapper().readTree(((Event.Detection) event).detail());
    }

    private static Event stop() {
        return new Event.VmLifecycle(EventHeader.host(1), "STOP", null);
    }

    @Test
    void theFirstAreAnAlertEachAndThenTheirNumberIsSaid() throws Exception {
        RuleAlerts alerts = alerts();
        assertEquals(1, detail(alerts.opening(3)).path("rules").asLong());
        var counts = new ArrayList<Long>();
        for (int i = 0; i < 1_000; i++) {
            see(alerts, stop()).forEach(said -> counts.add(said.path("count").asLong()));
        }
        assertEquals(RuleAlerts.EACH_MAX + 3, counts.size(), "128, 256 and 512 follow");
        assertEquals(512, counts.getLast());
        assertEquals(counts.size(), told.size());
        List<Event> last = alerts.finish();
        assertEquals(1_000, detail(last.getFirst()).path("count").asLong());
        JsonNode closed = detail(last.getLast());
        assertEquals("closed", closed.path("state").asText());
        assertEquals(1_000, closed.path("matches").asLong());
        assertEquals(1_000, closed.path("judged").asLong());
    }

    @Test
    void anAlertSaysWhatItIsAbout() throws Exception {
        RuleAlerts alerts = alerts();
        see(alerts, new Event.VmLifecycle(EventHeader.host(1), "RESUME", null));
        JsonNode said = see(alerts, stop()).getFirst();
        assertEquals("high", said.path("level").asText());
        assertEquals("[1]", said.path("indexes").toString());
        Alert alert = told.getFirst();
        JsonNode sent = new ObjectMapper().readTree(alert.toJson());
        assertEquals(run + ":2", sent.path("id").asText());
        assertEquals("stopped", sent.path("rule").path("id").asText());
        assertEquals(said.path("sha256"), sent.path("rule").path("sha256"));
    }
}
