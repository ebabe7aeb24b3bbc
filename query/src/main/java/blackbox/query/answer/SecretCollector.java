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

/// Gathers what became of secrets behind the egress gateway; alike uses are counted together.
final class SecretCollector {

    static final int KEPT_MAX = 10_000;

    private final Map<Key, Sums> seen = new LinkedHashMap<>();
    private final Room room;
    private long unkept;

    private record Key(
            String secret,
            String how,
            String to,
            @Nullable Long port,
            @Nullable String rule,
            @Nullable String place) {}

    private static final class Sums {
        private final long index;
        private long count;
        private long times;

        Sums(long index) {
            this.index = index;
        }
    }

    SecretCollector(Room room) {
        this.room = room;
    }

    void see(NetView.SecretUse use, long index) {
        JsonNode detail = RunFacts.detailOf(use.row());
        Text host = use.host();
        var key = new Key(
                detail.path("secret").asText("?"),
                String.valueOf(use.how()),
                String.valueOf(host == null ? use.remoteIp() : host),
                use.remotePort(),
                detail.path("rule").textValue(),
                detail.path("place").textValue());
        if (!seen.containsKey(key) && !room.take()) {
            unkept++;
            return;
        }
        Sums sums = seen.computeIfAbsent(key, _ -> new Sums(index));
        sums.count++;
        sums.times += detail.path("count").asLong();
    }

    List<Touched.SecretUse> uses() {
        var uses = new ArrayList<Touched.SecretUse>();
        seen.forEach((key, sums) -> uses.add(new Touched.SecretUse(
                key.secret, key.how, key.to, key.port, key.rule, key.place, sums.times, sums.index, sums.count)));
        return uses;
    }

    List<String> limits() {
        var limits = new ArrayList<String>();
        if (unkept > 0) {
            limits.add("only " + room.most() + " different uses of secrets are listed; " + unkept
                    + " events were of others");
        }
        if (!seen.isEmpty()) {
            limits.add(
                    "of secrets, surrogates were looked for in the heads of requests, not in their bodies, and values"
                            + " in answers of hosts that may be told them: as they are, in base64, in hexadecimal, in"
                            + " UTF-16, and quoted; a server can return one in any other form");
        }
        return limits;
    }
}
