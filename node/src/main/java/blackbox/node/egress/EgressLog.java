package blackbox.node.egress;

import blackbox.calls.ModelCall;
import blackbox.calls.ResultHistory;
import blackbox.calls.read.CallReader;
import blackbox.calls.read.CallRecognizer;
import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.ExchangeTap;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.FlowEnd;
import blackbox.gateway.egress.GatewayListener;
import blackbox.gateway.egress.HttpExchange;
import blackbox.gateway.egress.HttpField;
import blackbox.gateway.egress.PlaintextTap;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.SecretUse;
import blackbox.policy.Policy;
import blackbox.policy.decide.Builtins;
import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.EventSink;
import blackbox.recorder.guest.HostClock;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.FindingDetail;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Makes events of what a gateway did. While the recorder's queue is full the gateway waits, and with it its guest.
final class EgressLog implements GatewayListener {

    private static final ObjectMapper JSON = new ObjectMapper();

    /// Of how many exchanges calls are read at once: each reader may hold several megabytes.
    private static final int READERS_MAX = 32;

    private final HostClock clock;
    private final EventSink recorder;
    private final PlaintextCapture plaintext;
    private final Budgets budgets;
    private final ResultHistory results = new ResultHistory();
    private int reading;

    EgressLog(HostClock clock, EventSink recorder, PlaintextCapture plaintext, Budgets budgets) {
        this.budgets = budgets;
        this.clock = clock;
        this.recorder = recorder;
        this.plaintext = plaintext;
    }

    @Override
    public void decided(Decision decision) {
        var detail = JSON.createObjectNode();
        detail.put("stage", decision.stage().name().toLowerCase(Locale.ROOT))
                .put("rule", decision.rule())
                .put("reason", decision.reason());
        if (decision.stage() == Decision.Stage.DNS) {
            detail.put("asked", decision.what());
        } else if (decision.stage() == Decision.Stage.CONNECT) {
            if (decision.exe() != null) {
                detail.put("exe", decision.exe());
            }
        } else if (decision.stage() == Decision.Stage.TLS) {
            detail.put("serverName", decision.what().isEmpty() ? null : decision.what());
        } else if (decision.stage() == Decision.Stage.HTTP || decision.stage() == Decision.Stage.WS) {
            String[] head = decision.what().split(" ", 3);
            detail.put("method", head[0]).put("authority", head[1]).put("target", head[2]);
            List<String> deciding = decision.mediaTypes().stream()
                    .filter(Builtins::isOfDns)
                    .sorted()
                    .toList();
            if (!deciding.isEmpty()) {
                var types = detail.putArray("mediaTypes");
                deciding.forEach(types::add);
            }
        } else if (decision.stage() == Decision.Stage.MCP) {
            detail.put("messages", decision.what());
        } else if (decision.stage() == Decision.Stage.DIAL) {
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
    public ExchangeTap asked(Flow flow, RequestHead head, List<HttpField> fields) {
        CallReader reader = CallRecognizer.of(head.method(), head.target(), name -> first(fields, name));
        if (reader == null) {
            return new ExchangeLog(this, null, false);
        }
        if (reading == READERS_MAX) {
            reader.close();
            return new ExchangeLog(this, null, true);
        }
        reading++;
        return new ExchangeLog(this, reader, false);
    }

    @Override
    public PlaintextTap opened(Flow flow) {
        return plaintext.opened(flow);
    }

    /// The value of the first field with this name; null if there is none.
    static @Nullable String first(List<HttpField> fields, String name) {
        for (HttpField field : fields) {
            if (field.is(name)) {
                return field.value();
            }
        }
        return null;
    }

    Budgets budgets() {
        return budgets;
    }

    /// What was spent of a policy's budgets, when nothing more is.
    void spent(Policy policy, List<Budgets.Spent> spent) {
        GatewayPolicy.spent(policy, spent, clock.nowNs()).forEach(this::put);
    }

    long nowNs() {
        return clock.nowNs();
    }

    void readingEnds() {
        reading--;
    }

    List<String> freshResults(HttpExchange exchange, ModelCall call) {
        String host = exchange.host();
        return results.fresh(host == null ? exchange.flow().remote().ip() : host, call.request());
    }

    /// @param unread whether it may have made calls that nobody read
    void exchanged(HttpExchange exchange, boolean unread) {
        var detail = JSON.createObjectNode();
        detail.put("number", exchange.number())
                .put("protocol", exchange.protocol())
                .put("scheme", exchange.scheme())
                .put("method", exchange.head().method())
                .put("authority", exchange.head().authority())
                .put("target", exchange.target())
                .put("rule", exchange.rule())
                .put("status", exchange.status())
                .put("requestSha256", exchange.request().sha256())
                .put("responseSha256", exchange.response().sha256())
                .put(
                        "firstNs",
                        exchange.firstOctet() == null
                                ? null
                                : exchange.firstOctet().toNanos())
                .put("durationNs", exchange.whole().toNanos());
        if (unread) {
            detail.put("callsNotRead", true);
        }
        Flow flow = exchange.flow();
        String host = exchange.host();
        put(new Event.HttpExchange(
                EventHeader.host(clock.nowNs()),
                exchange.how().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                flow.guest(),
                flow.remote(),
                host == null ? null : Text.of(host),
                exchange.request().octets(),
                exchange.response().octets(),
                detail.toString()));
    }

    @Override
    public void secret(SecretUse use) {
        var detail = JSON.createObjectNode();
        detail.put("number", use.exchange())
                .put("secret", use.secret())
                .put("rule", use.rule())
                .put("place", use.place())
                .put("count", use.count());
        String host = use.host();
        put(new Event.EgressSecret(
                EventHeader.host(clock.nowNs()),
                use.how().name().toLowerCase(Locale.ROOT),
                use.flow().guest(),
                use.flow().remote(),
                host == null ? null : Text.of(host),
                detail.toString()));
    }

    @Override
    public void found(Finding finding, String detail, long count) {
        put(new Event.RecorderFinding(
                EventHeader.host(clock.nowNs()), new FindingDetail.EgressNoticed(finding.name(), count)));
    }

    void put(Event event) {
        try {
            recorder.accept(event);
        } catch (RecorderException e) {
            throw new IllegalStateException("what the gateway did could not be recorded: " + e.getMessage(), e);
        }
    }
}
