package blackbox.query.egress;

import blackbox.query.run.RunFacts;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.NetView;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What the egress gateway made of each connection. Owned by one thread.
final class GatewayDecisions {

    private static final String DNS = "dns";
    private static final String CONNECT = "connect";
    private static final String DIAL = "dial";
    private static final String DENY = "deny";

    /// What became of one connection.
    ///
    /// @param host the name that the guest connected to; null if it was an address
    /// @param address where the host connected to; null if it is not recorded
    record Outcome(
            long index, @Nullable String host, @Nullable String address, boolean isRefused) {
        /// The same, whenever it was.
        Outcome anyTime() {
            return new Outcome(0, host, address, isRefused);
        }
    }

    private final Map<Endpoints, List<Outcome>> outcomes = new LinkedHashMap<>();

    /// Takes the next decision about a connection.
    void add(Endpoints key, NetView.Decision decision, long index) {
        JsonNode detail = RunFacts.detailOf(decision.row());
        boolean refused = DENY.equals(String.valueOf(decision.verdict()));
        List<Outcome> all = outcomes.computeIfAbsent(key, _ -> new ArrayList<>(1));
        long first = index;
        // A connection may be dialled again for a later request; where it was before counts, too.
        boolean isFirstDial = DIAL.equals(stage(detail))
                && !all.isEmpty()
                && !all.getLast().isRefused()
                && all.getLast().address() == null;
        if (isFirstDial) {
            first = all.removeLast().index();
        }
        Text host = decision.host();
        all.add(new Outcome(
                first,
                host == null ? null : host.toString(),
                ip(detail.path("address").textValue()),
                refused));
    }

    private static @Nullable String ip(@Nullable String addressAndPort) {
        if (addressAndPort == null) {
            return null;
        }
        int colon = addressAndPort.lastIndexOf(':');
        String ip = colon < 0 ? addressAndPort : addressAndPort.substring(0, colon);
        return ip.startsWith("[") && ip.endsWith("]") ? ip.substring(1, ip.length() - 1) : ip;
    }

    private static String stage(JsonNode detail) {
        return detail.path("stage").asText();
    }

    /// Whether it is about a connection, and not about what is said on one.
    static boolean isOfConnection(NetView.Decision decision) {
        String stage = stage(RunFacts.detailOf(decision.row()));
        return stage.equals(CONNECT) || stage.equals(DIAL);
    }

    /// The type of the record that was asked for and refused; null if it is about something else.
    static @Nullable String refusedType(NetView.Decision decision) {
        JsonNode detail = RunFacts.detailOf(decision.row());
        return DNS.equals(stage(detail)) && DENY.equals(String.valueOf(decision.verdict()))
                ? detail.path("asked").textValue()
                : null;
    }

    Set<Endpoints> keys() {
        return outcomes.keySet();
    }

    /// The connections between these endpoints, one after the other.
    List<Outcome> of(Endpoints key) {
        return outcomes.getOrDefault(key, List.of());
    }
}
