package blackbox.node.serve;

import blackbox.node.mcp.McpEndpoint;
import io.micronaut.http.HttpHeaders;
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
import java.net.URI;
import java.security.SecureRandom;

/// MCP's transport `streamable HTTP`, without sessions and streams: an answer for each POST.
@Controller("/api/v1/mcp")
@ExecuteOn(TaskExecutors.IO) // not virtual threads, which native code holds
final class McpController {
    private static final String VERSION = "MCP-Protocol-Version";

    private final McpEndpoint endpoint;

    McpController(ApiContext context) {
        this.endpoint = new McpEndpoint(context.recordings(), context::verify, new SecureRandom());
    }

    @Post(consumes = MediaType.APPLICATION_JSON, produces = MediaType.APPLICATION_JSON)
    HttpResponse<?> answer(HttpRequest<?> request, @Body String message) {
        if (!isOwnPage(request.getHeaders())) {
            return Problem.response(HttpStatus.FORBIDDEN, "a page of another origin asks");
        }
        String version = request.getHeaders().get(VERSION);
        if (version != null && !McpEndpoint.VERSIONS.contains(version)) {
            return Problem.response(
                    HttpStatus.BAD_REQUEST,
                    "this server speaks MCP " + String.join(", ", McpEndpoint.VERSIONS) + ", not what " + VERSION
                            + " names");
        }
        String answer = endpoint.answer(message);
        return answer == null ? HttpResponse.accepted() : HttpResponse.ok(answer);
    }

    /// Whether no page asks, or one from where this is served.
    private static boolean isOwnPage(HttpHeaders headers) {
        String origin = headers.get(HttpHeaders.ORIGIN);
        if (origin == null) {
            return true;
        }
        try {
            String asking = URI.create(origin).getRawAuthority();
            return asking != null && asking.equalsIgnoreCase(headers.get(HttpHeaders.HOST));
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    @PreDestroy
    void close() {
        endpoint.close();
    }
}
