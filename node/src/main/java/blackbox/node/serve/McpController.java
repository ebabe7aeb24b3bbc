package blackbox.node.serve;

import blackbox.node.access.AccessLog;
import blackbox.node.mcp.McpEndpoint;
import blackbox.query.QueryException;
import blackbox.query.run.RunNames;
import blackbox.recorder.RecorderException;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
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
        JsonNode asked = asked(message);
        String version = request.getHeaders().get(VERSION);
        if (version != null && !McpEndpoint.VERSIONS.contains(version)) {
            return Problem.response(
                    HttpStatus.BAD_REQUEST,
                    "this server speaks MCP " + String.join(", ", McpEndpoint.VERSIONS) + ", not what " + VERSION
                            + " names");
        }
        try {
            context.access().more(AccessFilter.number(request), "mcp", about(asked), asked.toString());
        } catch (RecorderException e) {
            return AccessFilter.notRecorded(e);
        }
        String answer = endpoint.answer(message);
        return answer == null ? HttpResponse.accepted() : HttpResponse.ok(answer);
    }

    /// What a message asks for: its method, tool and arguments; of what is no such message, all of it.
    private static JsonNode asked(String message) {
        try {
            JsonNode said = JSON.readTree(message);
            JsonNode parameters = said.path("params");
            ObjectNode asked = JSON.createObjectNode();
            asked.set("method", said.path("method"));
            if (parameters.has("name")) {
                asked.set("tool", parameters.path("name"));
                asked.set("arguments", parameters.path("arguments"));
            }
            return said.path("method").isTextual() ? asked : said;
        } catch (JsonProcessingException e) {
            return TextNode.valueOf(message);
        }
    }

    /// The run that a message asks about; null if it is none.
    private @Nullable RunId about(JsonNode asked) {
        JsonNode run = asked.path("arguments").path("run");
        try {
            return run.isTextual() ? RunNames.resolve(context.recordings(), run.textValue()) : null;
        } catch (QueryException e) {
            return null; // as the tool will say
        }
    }

    @PreDestroy
    void close() {
        endpoint.close();
    }
}
