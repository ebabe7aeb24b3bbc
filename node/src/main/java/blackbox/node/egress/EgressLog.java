package blackbox.node.egress;

import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.FlowEnd;
import blackbox.gateway.egress.GatewayListener;
import blackbox.gateway.egress.HttpExchange;
import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.EventSink;
import blackbox.recorder.guest.HostClock;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.FindingDetail;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Locale;

/// Makes events of what a gateway did. While the recorder's queue is full the gateway waits, and with it its guest.
final class EgressLog implements GatewayListener {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final HostClock clock;
    private final EventSink recorder;

    EgressLog(HostClock clock, EventSink recorder) {
        this.clock = clock;
        this.recorder = recorder;
    }

    @Override
    public void decided(Decision decision) {
        var detail = JSON.createObjectNode();
        detail.put("stage", decision.stage().name().toLowerCase(Locale.ROOT))
                .put("rule", decision.rule())
                .put("reason", decision.reason());
        if (decision.stage() == Decision.Stage.DNS) {
            detail.put("asked", decision.what());
        } else if (decision.stage() == Decision.Stage.DIAL && decision.allowed()) {
            detail.put("address", decision.what());
        }
        Flow flow = decision.flow();
        String host = decision.host();
        put(new Event.EgressDecision(
                EventHeader.host(clock.nowNs()),
                decision.outcome().word(),
                flow.protocol().name().toLowerCase(Locale.ROOT),
                flow.guest(),
                flow.remote(),
                host == null ? null : Text.of(host),
                detail.toString()));
    }

    /// What moved is in the host's `net.flow`.
    @Override
    public void ended(FlowEnd end) {}

    @Override
    public void exchanged(HttpExchange exchange) {}

    @Override
    public void found(Finding finding, String detail, long count) {
        put(new Event.RecorderFinding(
                EventHeader.host(clock.nowNs()), new FindingDetail.EgressNoticed(finding.name(), count)));
    }

    private void put(Event event) {
        try {
            recorder.accept(event);
        } catch (RecorderException e) {
            throw new IllegalStateException("what the gateway did could not be recorded: " + e.getMessage(), e);
        }
    }
}
