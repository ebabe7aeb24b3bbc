package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Programs of a guest speak HTTPS with a server on the host's loopback, through the gateway: what each needs to trust
/// it, what of their requests gets out, and what the record says.
class HttpsGatewayTest {

    private static final String CLIENT = """
            exec 2>&1
            url=https://api.example
            curl -sS $url/v1/hello; echo
            curl -sS -d 'twelve bytes' $url/v1/count; echo
            curl -sS -o /dev/null -w '%{http_code}\\n' $url/admin
            curl -sS $url/admin | python3 -c 'import json, sys; print(sorted(json.load(sys.stdin)))'
            curl -sS -o /dev/null -w '%{http_code}\\n' -H 'Host: other.example' $url/v1/hello
            curl -sS -o /dev/null -w '%{http_code}\\n' $url/v1/%2e%2e/admin
            python3 -c "import urllib.request as u; print(u.urlopen('$url/v1/urllib').read().decode())"
            echo | openssl s_client -connect api.example:443 -servername api.example -CApath /etc/ssl/certs \\
                -verify_return_error -no-CAfile 2>&1 | grep -o 'Verify return code: 0 (ok)' | head -n 1
            echo | openssl s_client -connect api.example:443 -servername other.example > /dev/null 2>&1 || echo no other name
            (echo 'no request of any kind'; sleep 5) | openssl s_client -quiet -connect api.example:443 \\
                -servername api.example 2> /dev/null; echo what is no HTTP ended
            SSL_CERT_FILE=/dev/null CURL_CA_BUNDLE=/dev/null curl -sS -o /dev/null $url/v1/hello || echo no trust, no request
            """;

    private static final String PRINTED = """
            served /v1/hello
            served /v1/count after 12
            403
            ['error', 'rule', 'status']
            421
            403
            served /v1/urllib
            Verify return code: 0 (ok)
            no other name
            what is no HTTP ended
            """;

    @TempDir
    static Path folder;

    private static Installation blackbox;
    private static HttpsUpstream web;
    private static Path certificate;
    private static Path policy;
    private static final List<String> REACHED = new CopyOnWriteArrayList<>();

    @BeforeAll
    static void serve() throws Exception {
        blackbox = Installation.in(folder);
        web = HttpsUpstream.start(folder, "api.example", HttpsGatewayTest::answer);
        certificate = web.certificate();
        policy = Files.writeString(folder.resolve("policy.yaml"), """
                version: 1
                rules:
                  - id: api
                    host: api.example
                    methods: [GET, POST]
                    paths: ["/v1/**"]
                    upstream: 127.0.0.1:%d
                """.formatted(web.port()));
    }

    private static void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            long came = exchange.getRequestBody().readAllBytes().length;
            String path = exchange.getRequestURI().getPath();
            REACHED.add(exchange.getRequestMethod() + " "
                    + exchange.getRequestHeaders().getFirst("Host") + path);
            byte[] octets =
                    ("served " + path + (came == 0 ? "" : " after " + came)).getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(200, octets.length);
            exchange.getResponseBody().write(octets);
        }
    }

    @AfterAll
    static void close() {
        web.close();
    }

    @ParameterizedTest
    @CsvSource({"live, EQUIVALENT, 0", "exact, IDENTICAL, 0"}) // a live guest's TLS keys are its own each time
    void requestsAreJudgedAndRecorded(String tier, String verdict, int code) throws Exception {
        REACHED.clear();
        Ended ended = blackbox.run(
                        "record",
                        "--json",
                        "--tier",
                        tier,
                        "--policy",
                        policy.toString(),
                        "--upstream-ca",
                        certificate.toString(),
                        "--",
                        "sh",
                        "-c",
                        CLIENT)
                .expect(0);

        assertTrue(ended.out().startsWith(PRINTED), ended::out);
        assertTrue(ended.out().endsWith("no trust, no request\n"), ended::out);
        assertEquals(
                List.of("GET api.example/v1/hello", "POST api.example/v1/count", "GET api.example/v1/urllib"),
                List.copyOf(REACHED));
        String run = ended.recorded().path("run").asText();
        blackbox.verifyComplete(run);
        assertTheRequestsAreRecorded(run);
        REACHED.clear();
        JsonNode replayed = blackbox.run("replay", run, "--json").expect(code).json();
        assertEquals(verdict, replayed.path("verdict").asText(), replayed::toString);
        assertEquals(List.of(), List.copyOf(REACHED), "a replay reaches nobody");
    }

    private static void assertTheRequestsAreRecorded(String run) throws Exception {
        var told = new ArrayList<String>();
        for (JsonNode each : blackbox.events(run, "http.exchange")) {
            JsonNode detail = each.path("detail");
            assertEquals("https", detail.path("scheme").asText(), each::toString);
            told.add(each.path("what").asText() + " " + detail.path("method").asText() + " "
                    + each.path("host").asText() + detail.path("target").asText() + " "
                    + detail.path("status").asInt());
            if (detail.path("target").asText().equals("/v1/count")) {
                assertEquals(12, each.path("bytesOut").asLong(), each::toString);
                assertEquals(
                        sha256("twelve bytes"), detail.path("requestSha256").asText());
                assertEquals(
                        sha256("served /v1/count after 12"),
                        detail.path("responseSha256").asText());
            }
        }
        assertEquals(
                List.of(
                        "answered GET api.example/v1/hello 200",
                        "answered POST api.example/v1/count 200",
                        "refused GET api.example/admin 403",
                        "refused GET api.example/admin 403",
                        "refused GET api.example/v1/hello 421",
                        "refused GET api.example/v1/%2e%2e/admin 403",
                        "answered GET api.example/v1/urllib 200"),
                told);
        var rules = new ArrayList<String>();
        for (JsonNode each : blackbox.events(run, "egress.decision")) {
            JsonNode detail = each.path("detail");
            if (detail.path("stage").asText().equals("http")) {
                rules.add(detail.path("rule").asText());
            } else if (detail.path("stage").asText().equals("tls")
                    && detail.path("serverName").asText().equals("other.example")) {
                rules.add("tls " + detail.path("rule").asText());
            }
        }
        assertEquals(
                List.of(
                        "api",
                        "api",
                        "default",
                        "default",
                        "builtin:misdirected",
                        "builtin:path",
                        "api",
                        "tls builtin:misdirected"),
                rules);
        JsonNode touched =
                blackbox.run("touched", run, "--egress", "--json").expect(0).json();
        JsonNode first = touched.path("httpRequests").path(0);
        assertEquals("https://api.example:443/v1/hello", first.path("url").asText(), touched::toString);
    }

    private static String sha256(String text) throws Exception {
        return HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.US_ASCII)));
    }

    /// Only who is trusted by the host, or named, is an upstream.
    @Test
    void anUpstreamThatNobodyVouchesForGetsNothing() throws Exception {
        REACHED.clear();
        Ended ended = blackbox.run(
                "record",
                "--json",
                "--tier",
                "live",
                "--policy",
                policy.toString(),
                "--",
                "curl",
                "-sS",
                "https://api.example/v1/hello");
        assertFalse(ended.exitCode() == 0, ended::out);
        assertEquals(List.of(), List.copyOf(REACHED));
        Path missing = folder.resolve("missing.pem");
        blackbox.run("record", "--policy", policy.toString(), "--upstream-ca", missing.toString(), "--", "true")
                .expect(2)
                .saying("missing.pem");
        blackbox.run("record", "--upstream-ca", certificate.toString(), "--", "true")
                .expect(2)
                .saying("add --policy FILE");
    }
}
