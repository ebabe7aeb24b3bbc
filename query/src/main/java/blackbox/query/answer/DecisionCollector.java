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

/// Gathers what the egress gateway decided; identical decisions are counted, not listed.
final class DecisionCollector {

    static final int KEPT_MAX = 10_000;

    private final Map<Key, long[]> seen = new LinkedHashMap<>();
    private final Room room;
    private long unkept;

    private record Key(
            String verdict,
            String protocol,
            String to,
            @Nullable Long port,
            @Nullable String stage,
            @Nullable String rule,
            @Nullable String reason) {}

    DecisionCollector(Room room) {
        this.room = room;
    }

    void see(NetView.Decision decision, long index) {
        JsonNode detail = RunFacts.detailOf(decision.row());
        Text host = decision.host();
        Text address = decision.remoteIp();
        String stage = detail.path("stage").textValue();
        var key = new Key(
                String.valueOf(decision.verdict()),
                String.valueOf(decision.protocol()),
                String.valueOf(host == null ? address : host),
                "dns".equals(stage) ? null : decision.remotePort(),
                stage,
                detail.path("rule").textValue(),
                detail.path("reason").textValue());
        if (!seen.containsKey(key) && !room.take()) {
            unkept++;
            return;
        }
        seen.computeIfAbsent(key, _ -> new long[] {index, 0})[1]++;
    }

    List<Touched.EgressDecision> decisions() {
        var decisions = new ArrayList<Touched.EgressDecision>();
        seen.forEach((key, at) -> decisions.add(new Touched.EgressDecision(
                key.verdict, key.protocol, key.to, key.port, key.stage, key.rule, key.reason, at[0], at[1])));
        return decisions;
    }

    List<String> limits() {
        return unkept == 0
                ? List.of()
                : List.of("only " + room.most() + " different decisions of the egress gateway are listed; " + unkept
                        + " events were of others");
    }
}
