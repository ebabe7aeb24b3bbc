package blackbox.node.serve;

import blackbox.node.access.AccessLog;
import blackbox.node.mcp.McpEndpoint;
import blackbox.query.QueryException;
import blackbox.query.run.RunNames;
import blackbox.recorder.RecorderException;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Post;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import jakarta.annotation.PreDestroy;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import org.jspecify.annotations.Nullable;

/// MCP's transport `streamable HTTP`, without sessions and streams: an answer for each POST.
@Controller("/api/v1/mcp")
@ExecuteOn(TaskExecutors.IO) // not virtual threads, which native code holds
final class McpController {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String VERSION = "MCP-Protocol-Version";

    private final ApiContext context;
    private final McpEndpoint endpoint;

    McpController(ApiContext context) {
        this.context = context;
        this.endpoint = new McpEndpoint(context.recordings(), context::verify, new SecureRandom());
    }

    @Post(consumes = MediaType.APPLICATION_JSON, produces = MediaType.APPLICATION_JSON)
    HttpResponse<?> answer(HttpRequest<?> request, @Body String message) {
        if (message.length() > AccessLog.SAID_CHARS_MAX) {
            return Problem.response(
                    HttpStatus.REQUEST_ENTITY_TOO_LARGE,
                    "a message has at most " + AccessLog.SAID_CHARS_MAX + " characters, so that all of it is recorded");
        }
        JsonNode said = json(message);
        if (said != null && said.isArray()) {
            return Problem.response(HttpStatus.BAD_REQUEST, "send one JSON-RPC message at a time");
        }
        RunId about = said instanceof ObjectNode asked ? settleRun(asked) : null;
        String shown = said instanceof ObjectNode asked
                ? inShort(asked)
                : "no message; SHA-256 " + Hash.sha256(message.getBytes(StandardCharsets.UTF_8));
        String version = request.getHeaders().get(VERSION);
        if (version != null && !McpEndpoint.VERSIONS.contains(version)) {
            return Problem.response(
                    HttpStatus.BAD_REQUEST,
                    "this server speaks MCP " + String.join(", ", McpEndpoint.VERSIONS) + ", not what " + VERSION
                            + " names");
        }
        try {
            context.access().more(AccessFilter.number(request), "mcp", about, shown);
        } catch (RecorderException e) {
            return AccessFilter.notRecorded(e);
        }
        String answer = endpoint.answer(said instanceof ObjectNode ? said.toString() : message);
        return answer == null ? HttpResponse.accepted() : HttpResponse.ok(answer);
    }

    private static @Nullable JsonNode json(String message) {
        try {
            return JSON.readTree(message);
        } catch (JsonProcessingException e) {
            return null;
        }
    }

    /// A message's method, and the tool and the arguments if it calls one.
    private static String inShort(ObjectNode message) {
        ObjectNode shown = JSON.createObjectNode();
        shown.set("method", message.path("method"));
        JsonNode parameters = message.path("params");
        if (parameters.has("name")) {
            shown.set("tool", parameters.path("name"));
            shown.set("arguments", parameters.path("arguments"));
        }
        return shown.toString();
    }

    /// Names the run that a message asks about by its id, so that the tool finds the one that is recorded; null
    /// if there is none.
    private @Nullable RunId settleRun(ObjectNode message) {
        if (!(message.path("params").path("arguments") instanceof ObjectNode arguments)
                || !arguments.path("run").isTextual()) {
            return null;
        }
        try {
            RunId run = RunNames.resolveAlsoLost(
                    context.recordings(), arguments.path("run").textValue());
            arguments.put("run", run.value());
            return run;
        } catch (QueryException e) {
            return null; // as the tool will say
        }
    }

    @PreDestroy
    void close() {
        endpoint.close();
    }
}
