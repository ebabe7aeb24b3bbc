package blackbox.node.serve;

import blackbox.node.access.Right;
import io.micronaut.http.HttpMethod;
import java.net.URI;
import java.net.URISyntaxException;
import org.jspecify.annotations.Nullable;

/// The routes below `/api`, and the right that each needs. What is none of them is not answered, whatever the
/// router would make of it.
enum ApiRoute {
    RUNS(HttpMethod.GET, "/api/v1/runs", Right.LIST),
    RUN(HttpMethod.GET, "/api/v1/runs/{run}", Right.LIST),
    VERIFICATION(HttpMethod.GET, "/api/v1/runs/{run}/verification", Right.LIST),
    TOUCHED(HttpMethod.GET, "/api/v1/runs/{run}/touched", Right.READ),
    EVIDENCE(HttpMethod.GET, "/api/v1/runs/{run}/evidence", Right.READ),
    EVENTS(HttpMethod.GET, "/api/v1/runs/{run}/events", Right.READ),
    OUTPUT(HttpMethod.GET, "/api/v1/runs/{run}/output", Right.READ),
    VERDICTS(HttpMethod.GET, "/api/v1/runs/{run}/verdicts", Right.READ),
    WHY(HttpMethod.GET, "/api/v1/runs/{run}/events/{index}/why", Right.READ),
    CAUSED(HttpMethod.GET, "/api/v1/runs/{run}/calls/{call}/caused", Right.READ),
    ACCESS(HttpMethod.GET, "/api/v1/access", Right.READ),
    TABLES(HttpMethod.GET, "/api/v1/sql", Right.READ),
    SQL(HttpMethod.POST, "/api/v1/sql", Right.READ),
    PAUSE(HttpMethod.POST, "/api/v1/runs/{run}/pause", Right.OPERATE),
    RESUME(HttpMethod.POST, "/api/v1/runs/{run}/resume", Right.OPERATE),
    KILL(HttpMethod.POST, "/api/v1/runs/{run}/kill", Right.OPERATE),
    REPLAYS(HttpMethod.GET, "/api/v1/runs/{run}/replays", Right.READ),
    REPLAY(HttpMethod.GET, "/api/v1/runs/{run}/replays/{replay}", Right.READ),
    START_REPLAY(HttpMethod.POST, "/api/v1/runs/{run}/replays", Right.OPERATE),
    ASK_LANDING(HttpMethod.POST, "/api/v1/runs/{run}/replays/{replay}/ask", Right.OPERATE),
    CANCEL_REPLAY(HttpMethod.DELETE, "/api/v1/runs/{run}/replays/{replay}", Right.OPERATE),
    LOGOUT(HttpMethod.POST, "/api/v1/logout", Right.LIST),
    MCP(HttpMethod.POST, "/api/v1/mcp", Right.READ),
    OPEN_API(HttpMethod.GET, "/api/v1/openapi.json", Right.LIST),
    METRICS(HttpMethod.GET, "/metrics", Right.LIST);

    private static final String RUN_VARIABLE = "{run}";

    private final HttpMethod method;
    private final String path;
    private final Right right;

    ApiRoute(HttpMethod method, String path, Right right) {
        this.method = method;
        this.path = path;
        this.right = right;
    }

    /// The route of a request; null if there is none.
    static @Nullable ApiRoute of(HttpMethod method, String path) {
        for (ApiRoute each : values()) {
            if (each.method == method && each.matches(path)) {
                return each;
            }
        }
        return null;
    }

    /// Whether there is a route with that path, for whatever method.
    static boolean isKnown(String path) {
        for (ApiRoute each : values()) {
            if (each.matches(path)) {
                return true;
            }
        }
        return false;
    }

    private boolean matches(String given) {
        String[] expected = path.split("/");
        String[] parts = given.split("/"); // without empty ones at the end
        if (parts.length != expected.length) {
            return false;
        }
        for (int at = 0; at < parts.length; at++) {
            boolean variable = expected[at].startsWith("{");
            if (variable ? parts[at].isEmpty() : !parts[at].equals(expected[at])) {
                return false;
            }
        }
        return true;
    }

    /// The run as a path of this route names it; null if it names none.
    ///
    /// @throws URISyntaxException if it cannot be decoded
    @Nullable
    String run(String given) throws URISyntaxException {
        String[] expected = path.split("/");
        for (int at = 0; at < expected.length; at++) {
            if (expected[at].equals(RUN_VARIABLE)) {
                return new URI("/" + given.split("/")[at]).getPath().substring(1);
            }
        }
        return null;
    }

    String path() {
        return path;
    }

    HttpMethod method() {
        return method;
    }

    Right right() {
        return right;
    }

    /// Method and path.
    String words() {
        return method + " " + path;
    }
}
