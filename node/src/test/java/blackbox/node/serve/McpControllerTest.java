package blackbox.node.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.console.Npm;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.json.jackson2.JacksonMcpJsonMapper;
import io.modelcontextprotocol.json.schema.JsonSchemaValidator.ValidationResponse;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// MCP over HTTP, asked by the SDK's client and by hand.
@Timeout(60)
class McpControllerTest {
    private static final String PATH = "/api/v1/mcp";
    private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";

    @TempDir
    Path data;

    private final HttpClient client = HttpClient.newHttpClient();
    private TestService service;
    private ApiServer server;
    private String token;

    @BeforeEach
    void start() throws Exception {
        service = TestService.in(data, List::of, null);
        token = service.token();
        server = ApiServer.start(service.context(), ApiServerTest.LOOPBACK, null);
    }

    @AfterEach
    void stop() {
        server.close();
        service.close();
        client.close();
    }

    private McpSyncClient asking(String withToken) {
        var transport = HttpClientStreamableHttpTransport.builder(server.uri().toString())
                .endpoint(PATH)
                .jsonMapper(new JacksonMcpJsonMapper(new ObjectMapper()))
                .requestBuilder(HttpRequest.newBuilder().header("Authorization", "Bearer " + withToken))
                .build();
        return McpClient.sync(transport)
                .jsonSchemaValidator((_, _) -> ValidationResponse.asInvalid("unused"))
                .build();
    }

    @Test
    void aClientOfTheSdkFindsAndCallsTheTools() {
        try (McpSyncClient asking = asking(token)) {
            assertEquals("blackbox", asking.initialize().serverInfo().name());
            assertEquals(12, asking.listTools().tools().size());
            var answer = asking.callTool(new CallToolRequest("list_runs", Map.of()));
            String text = ((McpSchema.TextContent) answer.content().getFirst()).text();
            assertTrue(text.contains("\"total\":0"), text);
            assertFalse(Boolean.TRUE.equals(answer.isError()), text);
        }
    }

    @Test
    void soDoesTheClientInTypeScriptOfTheProtocolsOwnProject() throws Exception {
        List<JsonNode> said = Npm.script("mcp.mjs", List.of(server.uri().resolve(PATH), token));
        assertEquals("blackbox", said.getFirst().path("server").asText());
        assertEquals(12, said.getFirst().path("tools").size());
        String text = said.getLast().path("content").path(0).path("text").asText();
        assertTrue(text.contains("\"total\":0"), text);
        assertFalse(said.getLast().path("isError").asBoolean(true), text);
    }

    @Test
    void withoutTheTokenNothingIsAnswered() throws Exception {
        try (McpSyncClient asking = asking(token + "x")) {
            assertThrows(RuntimeException.class, asking::initialize);
        }
        HttpResponse<String> refused =
                client.send(request().POST(BodyPublishers.ofString(PING)).build(), BodyHandlers.ofString());
        assertEquals(401, refused.statusCode());
    }

    @Test
    void pagesOfOthersUnknownVersionsAndOtherMethodsAreRefused() throws Exception {
        assertEquals(200, post(PING).statusCode());
        assertEquals(200, post(PING, "Origin", server.uri().toString()).statusCode());
        for (String origin :
                List.of("https://evil.example", "null", "http://[", "http://localhost:1", "http://203.0.113.9")) {
            assertEquals(403, post(PING, "Origin", origin).statusCode(), origin);
        }
        assertEquals(200, post(PING, "MCP-Protocol-Version", "2025-06-18").statusCode());
        assertEquals(400, post(PING, "MCP-Protocol-Version", "1999-01-01").statusCode());
        HttpResponse<String> nothing = post("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
        assertEquals(202, nothing.statusCode());
        assertEquals("", nothing.body());
        assertTrue(post("{").body().contains("-32700"));
        assertEquals(413, post("x".repeat(70_000)).statusCode());
        HttpRequest.Builder get = request().header("Authorization", "Bearer " + token);
        assertEquals(405, client.send(get.build(), BodyHandlers.ofString()).statusCode(), "there are no streams");
        assertEquals(
                405, client.send(get.DELETE().build(), BodyHandlers.ofString()).statusCode(), "there are no sessions");
    }

    private HttpRequest.Builder request() {
        return HttpRequest.newBuilder(URI.create(server.uri() + PATH))
                .header("Accept", "application/json, text/event-stream")
                .header("Content-Type", "application/json");
    }

    private HttpResponse<String> post(String message, String... headers) throws Exception {
        HttpRequest.Builder request =
                request().header("Authorization", "Bearer " + token).POST(BodyPublishers.ofString(message));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.send(request.build(), BodyHandlers.ofString());
    }
}
