package blackbox.node.egress;

import blackbox.calls.Call;
import blackbox.calls.McpCall;
import blackbox.calls.ModelCall;
import blackbox.calls.ToolUse;
import blackbox.calls.read.CallReader;
import blackbox.gateway.egress.ExchangeTap;
import blackbox.gateway.egress.HttpExchange;
import blackbox.gateway.egress.HttpField;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Makes events of one exchange: of itself, and of the calls that it made.
final class ExchangeLog implements ExchangeTap {
    private final EgressLog log;
    private final @Nullable CallReader reader;
    private final boolean unread;
    private final long askedNs;
    private final PieceTimes pieces = new PieceTimes();
    private long sentNs;
    private @Nullable Long answeredNs;

    /// @param reader of the calls that it may make, which is closed with it; null for none
    /// @param unread whether it may make some that nobody reads
    ExchangeLog(EgressLog log, @Nullable CallReader reader, boolean unread) {
        this.log = log;
        this.reader = reader;
        this.unread = unread;
        this.askedNs = log.nowNs();
        this.sentNs = askedNs;
    }

    @Override
    public void sent(ByteBuffer body) {
        if (reader != null) {
            sentNs = log.nowNs();
            byte[] octets = octets(body);
            reader.request(octets, 0, octets.length);
        }
    }

    @Override
    public void answered(int status, List<HttpField> fields) {
        if (reader != null) {
            answeredNs = log.nowNs();
            reader.responseHead(status, name -> EgressLog.first(fields, name));
        }
    }

    @Override
    public void answered(ByteBuffer body) {
        if (reader != null) {
            byte[] octets = octets(body);
            reader.response(octets, 0, octets.length);
            pieces.add(reader.responseOctets(), log.nowNs());
        }
    }

    private static byte[] octets(ByteBuffer body) {
        byte[] octets = new byte[body.remaining()];
        body.get(octets);
        return octets;
    }

    @Override
    public void over(HttpExchange exchange) {
        log.exchanged(exchange, unread);
        if (reader == null) {
            var unused = log.budgets().spend(exchange, null, 0, 0);
            return;
        }
        log.readingEnds();
        try (reader) {
            var times = new CallEvents.Times(askedNs, sentNs, answeredNs, pieces);
            var events = new CallEvents(exchange, log.nowNs(), times);
            List<Call> calls = reader.finish();
            ModelCall ofModel = calls.stream()
                    .filter(ModelCall.class::isInstance)
                    .map(ModelCall.class::cast)
                    .findFirst()
                    .orElse(null);
            Budgets.Cost cost = log.budgets().spend(exchange, ofModel, reader.requestOctets(), reader.responseOctets());
            // What was refused called nothing.
            for (Call each : exchange.how() == HttpExchange.How.REFUSED ? List.<Call>of() : calls) {
                switch (each) {
                    case ModelCall call -> {
                        log.put(events.model(call, log.freshResults(exchange, call), cost));
                        for (ToolUse use : call.response().toolUses()) {
                            log.put(events.tool(use));
                        }
                    }
                    case McpCall call -> log.put(events.mcp(call));
                }
            }
        }
    }
}
