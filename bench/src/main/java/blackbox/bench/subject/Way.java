package blackbox.bench.subject;

import java.io.IOException;
import java.util.List;
import java.util.function.UnaryOperator;

/// A way from a client to a [Origin].
///
/// @param name of what is on it
/// @param base the origin's URL as the client has it, without a path
/// @param place puts a client's command line where its connections take this way
/// @param meter of the processes on it; not those of the client and of the origin
public record Way(String name, String base, UnaryOperator<List<String>> place, Meter meter) {

    /// Reads a cost so far.
    @FunctionalInterface
    public interface Meter {
        ProcessCost now() throws IOException;
    }

    /// With nothing between client and origin.
    public static Way direct(Origin origin) {
        return new Way("direct", local(origin), program -> program, () -> new ProcessCost(0, 0));
    }

    public static Way of(RecordedGateway gateway) {
        return new Way("gateway", "https://" + Origin.NAME, gateway.guest()::inside, gateway::cost);
    }

    public static Way of(Slirp slirp, Origin origin) {
        return new Way("slirp", "https://" + Slirp.HOST + ":" + origin.port(), slirp.guest()::inside, slirp::cost);
    }

    public static Way of(InterceptingProxy proxy, Origin origin) {
        return new Way(proxy.name(), local(origin), proxy::through, proxy::cost);
    }

    private static String local(Origin origin) {
        return "https://localhost:" + origin.port();
    }
}
