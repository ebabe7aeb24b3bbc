package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A program of a guest speaks nothing but HTTP/2, as clients of gRPC do, through the gateway: it is judged, recorded,
/// and not replayed in the live tier.
class Http2GatewayTest {
    private static final String CLIENT = """
            import socket, ssl, struct
            context = ssl.create_default_context()
            context.set_alpn_protocols(['h2'])
            raw = socket.create_connection(('api.example', 443))
            tls = context.wrap_socket(raw, server_hostname='api.example')
            print(tls.selected_alpn_protocol())
            def frame(kind, flags, stream, payload):
                return struct.pack('>I', len(payload))[1:] + bytes([kind, flags]) + struct.pack('>I', stream) + payload
            def field(name, value):
                return bytes([0, len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
            def call(stream, path):
                head = b''.join(field(*each) for each in [(':method', 'POST'), (':scheme', 'https'),
                    (':authority', 'api.example'), (':path', path), ('content-type', 'application/grpc'),
                    ('te', 'trailers')])
                tls.sendall(frame(1, 4, stream, head) + frame(0, 1, stream, b'twelve bytes'))
                whole = b''
                while True:
                    head = exactly(9)
                    payload = exactly(int.from_bytes(head[:3], 'big'))
                    if head[3] in (0, 1) and int.from_bytes(head[5:], 'big') == stream:
                        whole += payload
                        if head[4] & 1:
                            return whole
            def exactly(count):
                octets = b''
                while len(octets) < count:
                    more = tls.recv(count - len(octets))
                    if not more:
                        raise EOFError
                    octets += more
                return octets
            tls.sendall(b'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n' + frame(4, 0, 0, b''))
            answer = call(1, '/v1.Echo/Say')
            print(b'echo of twelve bytes' in answer, b'grpc-status' in answer)
            print(b'"status":403' in call(3, '/admin'))
            print(b'echo of twelve bytes' in call(5, '/v1.Echo/Again'))
            """;

    @TempDir
    static Path folder;

    @Test
    void callsAreJudgedAndRecorded() throws Exception {
        Installation blackbox = Installation.in(folder);
        HttpsUpstream.Keys keys = HttpsUpstream.keys(folder, "api.example");
        try (var upstream = new Http2Upstream(keys.context())) {
            Path policy = Files.writeString(folder.resolve("http2.yaml"), """
                    version: 1
                    rules:
                      - id: echo
                        host: api.example
                        methods: [POST]
                        paths: ["/v1.Echo/*"]
                        upstream: 127.0.0.1:%d
                    """.formatted(upstream.port()));
            Ended ended = blackbox.run(
                            "record",
                            "--json",
                            "--tier",
                            "live",
                            "--policy",
                            policy.toString(),
                            "--upstream-ca",
                            keys.certificate().toString(),
                            "--",
                            "python3",
                            "-c",
                            CLIENT)
                    .expect(0);
            assertTrue(ended.out().startsWith("h2\nTrue True\nTrue\nTrue\n"), ended::out);
            List<String> calls = List.of("POST api.example/v1.Echo/Say", "POST api.example/v1.Echo/Again");
            assertEquals(calls, List.copyOf(upstream.reached()));
            String run = ended.recorded().path("run").asText();
            blackbox.verifyComplete(run);
            var told = new ArrayList<String>();
            for (JsonNode each : blackbox.events(run, "http.exchange")) {
                JsonNode detail = each.path("detail");
                told.add(detail.path("number").asInt() + " "
                        + detail.path("protocol").asText() + " "
                        + detail.path("status").asInt() + " "
                        + each.path("bytesOut").asLong());
            }
            assertEquals(List.of("0 h2 200 12", "1 h2 403 0", "2 h2 200 12"), told);

            JsonNode replayed = blackbox.run("replay", run, "--json").expect(1).json();
            JsonNode first = replayed.path("firstDivergence");
            assertEquals("NET_MISS", first.path("class").asText(), replayed::toString);
            assertTrue(replayed.toString().contains("HTTP/2 was recorded"), replayed::toString);
            assertEquals(calls, List.copyOf(upstream.reached()), "a replay reaches nobody");
        }
    }
}
