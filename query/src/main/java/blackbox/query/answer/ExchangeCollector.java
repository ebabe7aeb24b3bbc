package blackbox.query.answer;

import blackbox.query.run.RunFacts;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.NetView;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Gathers the HTTP requests that the egress gateway judged; those alike are counted together, with the octets of all.
final class ExchangeCollector {

    static final int KEPT_MAX = 10_000;

    private final Map<Key, Sums> seen = new LinkedHashMap<>();
    private final Room room;
    private long unkept;

    private record Key(
            String method,
            String url,
            long status,
            String ending,
            @Nullable String rule) {}

    private static final class Sums {
        private final long index;
        private long count;
        private long out;
        private long in;

        Sums(long index) {
            this.index = index;
        }
    }

    ExchangeCollector(Room room) {
        this.room = room;
    }

    void see(NetView.Exchange exchange, long index) {
        JsonNode detail = RunFacts.detailOf(exchange.row());
        var key = new Key(
                detail.path("method").asText("?"),
                url(exchange, detail),
                detail.path("status").asLong(),
                String.valueOf(exchange.ending()),
                detail.path("rule").textValue());
        if (!seen.containsKey(key) && !room.take()) {
            unkept++;
            return;
        }
        Sums sums = seen.computeIfAbsent(key, _ -> new Sums(index));
        sums.count++;
        sums.out += exchange.bytesOut();
        sums.in += exchange.bytesIn();
    }

    /// To whom the connection was, whatever the request said.
    private static String url(NetView.Exchange exchange, JsonNode detail) {
        Text host = exchange.host();
        String to = String.valueOf(host == null ? exchange.remoteIp() : host);
        String target = detail.path("target").asText();
        // A refused request may have any target; one such as `@example.org` must not make a URL of another host.
        return detail.path("scheme").asText("?") + "://" + (to.contains(":") ? "[" + to + "]" : to) + ":"
                + exchange.remotePort() + (target.startsWith("/") ? "" : " ") + target;
    }

    List<Touched.HttpRequest> requests() {
        var requests = new ArrayList<Touched.HttpRequest>();
        seen.forEach((key, sums) -> requests.add(new Touched.HttpRequest(
                key.method,
                key.url,
                key.status,
                key.ending,
                key.rule,
                new Touched.Octets(sums.out, sums.in),
                sums.index,
                sums.count)));
        return requests;
    }

    List<String> limits() {
        return unkept == 0
                ? List.of()
                : List.of("only " + room.most() + " different HTTP requests are listed; " + unkept
                        + " events were of others");
    }
}
