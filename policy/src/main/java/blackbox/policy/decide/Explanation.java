package blackbox.policy.decide;

import blackbox.policy.decide.Connection.Transport;
import blackbox.policy.host.Address;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What a policy says of one URL, stage by stage up to the first refusal.
///
/// @param decisions at least one
public record Explanation(List<Decision> decisions) {

    public Explanation {
        decisions = List.copyOf(decisions);
    }

    /// Asks what becomes of a request for `url`. Nothing is resolved: an address behind a name is only judged
    /// when it is dialled.
    ///
    /// @param exe as in [Connection]
    public static Explanation of(Evaluator evaluator, Url url, String method, @Nullable String exe) {
        Address address = Address.parse(url.host());
        String name = address == null ? url.host() : null;
        var connection = new Connection(Transport.TCP, name, address, url.port(), exe);
        String shown = url.host().contains(":") ? "[" + url.host() + "]" : url.host();
        var exchange = new Exchange(method, shown + ":" + url.port(), url.target(), Set.of());
        var asked = new ArrayList<Request>();
        if (name != null) {
            asked.add(new Request.Dns(name, "A", exe));
        }
        asked.add(new Request.Connect(connection));
        if (url.isTls()) {
            asked.add(new Request.Tls(connection, name));
        }
        switch (url.scheme()) {
            case HTTP, HTTPS -> asked.add(new Request.Http(connection, null, exchange));
            case WS, WSS -> asked.add(new Request.WebSocket(connection, null, exchange));
            case TCP -> {}
        }
        var decisions = new ArrayList<Decision>();
        for (Request request : asked) {
            Decision decision = evaluator.decide(request);
            decisions.add(decision);
            if (!decision.goesOn()) {
                break;
            }
        }
        return new Explanation(decisions);
    }

    /// The last word.
    public Decision last() {
        return decisions.getLast();
    }
}
