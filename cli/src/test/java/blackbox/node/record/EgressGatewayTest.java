package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import blackbox.policy.text.CanonicalPolicy;
import blackbox.policy.text.PolicyReader;
import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A guest behind the egress gateway: what its policy allows works, nothing else gets out, each decision is in the
/// record, and the run replays.
final class EgressGatewayTest {

    private static final int LARGE = 1 << 20;
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    private static final String CLIENT = """
            import os, socket, sys, urllib.request
            def get(url, data=None):
                with urllib.request.urlopen(url, data=data, timeout=60) as page:
                    return page.read()
            print(get('http://service.example/hello').decode())
            print(len(get('http://service.example/large')))
            print(get('http://SERVICE.example./count', data=bytes(%1$d)).decode())
            def attempt(what, act):
                try:
                    print(what, act())
                except OSError as failure:
                    print(what, type(failure).__name__, flush=True)
            def connect(address, port):
                with socket.create_connection((address, port), timeout=20):
                    return 'CONNECTED'
            own = int(os.environ['HOST_PORT'])
            attempt('denied name', lambda: socket.gethostbyname('bad.example'))
            attempt('unknown name', lambda: socket.gethostbyname('secret-octets.tunnel.example'))
            attempt('other port', lambda: connect('service.example', 81))
            attempt('loopback by the old address', lambda: connect('10.0.2.2', own))
            attempt('metadata', lambda: connect('169.254.169.254', 80))
            attempt('public address', lambda: connect('1.1.1.1', 443))
            attempt('a private one', lambda: connect('192.168.1.1', 80))
            attempt('a synthetic one', lambda: connect('198.18.200.200', 80))
            def ask(server):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as names:
                    names.settimeout(20)
                    question = bytes.fromhex('abcd01000001000000000000') + b'\\x06tunnel\\x07example\\0\\0\\x10\\0\\1'
                    names.sendto(question, (server, 53))
                    return names.recv(512)[3] & 15
            attempt('another resolver', lambda: ask('8.8.8.8'))
            def quic():
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
                    out.connect(('1.1.1.1', 443))
                    out.settimeout(20)
                    out.send(b'initial')
                    return out.recv(1500)
            attempt('quic', quic)
            """.formatted(LARGE);

    private static final String PRINTED = """
            served /hello
            %1$d
            %1$d octets
            denied name gaierror
            unknown name gaierror
            other port ConnectionRefusedError
            loopback by the old address ConnectionRefusedError
            metadata ConnectionRefusedError
            public address ConnectionRefusedError
            a private one ConnectionRefusedError
            a synthetic one ConnectionRefusedError
            another resolver 0
            quic OSError
            """.formatted(LARGE);

    @TempDir
    static Path folder;

    private static Installation blackbox;
    private static HttpServer web;
    private static ServerSocket hidden;
    private static Path policy;
    private static final AtomicInteger REACHED = new AtomicInteger();

    @BeforeAll
    static void serve() throws Exception {
        blackbox = Installation.in(folder);
        web = HttpServer.create(new InetSocketAddress(LOOPBACK, 0), 8);
        web.createContext("/", EgressGatewayTest::answer);
        web.start();
        hidden = new ServerSocket(0, 8, LOOPBACK);
        Thread.ofPlatform().daemon().name("hidden").start(() -> {
            try {
                while (true) {
                    hidden.accept().close();
                    REACHED.incrementAndGet();
                }
            } catch (IOException e) {
                Thread.currentThread().interrupt(); // closed: the test is over
            }
        });
        policy = Files.writeString(
                folder.resolve("policy.yaml"), """
                version: 1
                rules:
                  - id: web
                    host: service.example
                    ports: [80]
                    upstream: 127.0.0.1:%d
                deny:
                  - host: bad.example
                """.formatted(web.getAddress().getPort()));
    }

    @AfterAll
    static void close() throws IOException {
        web.stop(0);
        hidden.close();
    }

    private static void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            long came = exchange.getRequestBody().transferTo(java.io.OutputStream.nullOutputStream());
            String body = switch (exchange.getRequestURI().getPath()) {
                case "/large" -> "x".repeat(LARGE);
                case "/count" -> came + " octets";
                default -> "served " + exchange.getRequestURI().getPath();
            };
            byte[] octets = body.getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(200, octets.length);
            exchange.getResponseBody().write(octets);
        }
    }

    @ParameterizedTest
    @CsvSource({"live, EQUIVALENT", "exact, IDENTICAL"})
    void onlyWhatThePolicyAllowsGetsOut(String tier, String verdict) throws Exception {
        Ended ended = blackbox.run(
                        "record",
                        "--json",
                        "--tier",
                        tier,
                        "--policy",
                        policy.toString(),
                        "--env",
                        "HOST_PORT=" + hidden.getLocalPort(),
                        "--",
                        "python3",
                        "-c",
                        CLIENT)
                .expect(0);

        assertEquals(PRINTED, ended.out(), ended::err);
        assertEquals(0, REACHED.get());
        String run = ended.recorded().path("run").asText();
        blackbox.verifyComplete(run);
        assertTheDecisionsAreRecorded(run);
        assertThePolicyIsRecorded(run);
        JsonNode replayed = blackbox.run("replay", run, "--env", "HOST_PORT=" + hidden.getLocalPort(), "--json")
                .expect(0)
                .json();
        assertEquals(verdict, replayed.path("verdict").asText(), replayed::toString);
    }

    private static void assertTheDecisionsAreRecorded(String run) throws Exception {
        var told = new TreeSet<String>();
        for (JsonNode each : blackbox.events(run, "egress.decision")) {
            assertTrue(each.path("detail").path("reason").asText().length() > 10, each::toString);
            JsonNode address = each.path("detail").path("address");
            assertTrue(address.isMissingNode()
                    || address.asText().equals("127.0.0.1:" + web.getAddress().getPort()));
            String to = each.path("host").isTextual()
                    ? each.path("host").asText()
                    : each.path("remote").path("ip").asText();
            told.add(each.path("detail").path("stage").asText() + " "
                    + each.path("what").asText() + " " + to + " "
                    + each.path("detail").path("rule").asText("-"));
        }
        var expected = new TreeSet<>(List.of(
                "dns allow service.example web",
                "connect allow service.example web",
                "dial allow service.example web",
                "connect deny service.example default",
                "dns deny bad.example deny[0]",
                "dns deny secret-octets.tunnel.example default",
                "connect deny 169.254.169.254 builtin:metadata"));
        expected.removeAll(told);
        assertEquals(new TreeSet<>(), expected, told::toString);
        JsonNode touched =
                blackbox.run("touched", run, "--egress", "--json").expect(0).json();
        boolean listed = false;
        for (JsonNode each : touched.path("egressDecisions")) {
            listed |= each.path("to").asText().equals("bad.example")
                    && each.path("verdict").asText().equals("deny");
        }
        assertTrue(listed, touched::toString);
    }

    private static void assertThePolicyIsRecorded(String run) throws Exception {
        List<JsonNode> pieces = blackbox.events(run, "egress.policy");
        String text = pieces.stream()
                .map(each -> each.path("detail").path("text").asText())
                .collect(Collectors.joining());
        var sealed = PolicyReader.readCanonical(text.getBytes(StandardCharsets.UTF_8));
        assertEquals(
                CanonicalPolicy.digest(sealed), pieces.getFirst().path("what").asText());
        assertEquals(PolicyReader.read(Files.readAllBytes(policy)), sealed);
    }

    @Test
    void observingLetsThroughAndSaysSo() throws Exception {
        Path observing = Files.writeString(
                folder.resolve("observe.yaml"),
                Files.readString(policy)
                        .replace("version: 1", "version: 1\nmode: observe")
                        .replace("[80]", "[8080]"));
        Ended ended = blackbox.run(
                        "record",
                        "--json",
                        "--tier",
                        "live",
                        "--policy",
                        observing.toString(),
                        "--",
                        "python3",
                        "-c",
                        "import socket; print(socket.gethostbyname('anything.example')[:5])")
                .expect(0);
        assertEquals("198.1\n", ended.out());
        List<JsonNode> decisions = blackbox.events(ended.recorded().path("run").asText(), "egress.decision");
        assertEquals("would-deny", decisions.getFirst().path("what").asText(), decisions::toString);
    }

    @Test
    void whatCannotBeHeldIsRefusedBefore() throws Exception {
        Path paths = Files.writeString(folder.resolve("paths.yaml"), """
                version: 1
                rules:
                  - {id: api, host: api.example, budget: {usd: 5}}
                """);
        blackbox.run("record", "--policy", paths.toString(), "--", "true")
                .expect(2)
                .saying("rule api: a budget of usd needs prices");
        blackbox.run("record", "--network", "gateway", "--", "true").expect(2).saying("--policy FILE");
        blackbox.run("record", "--network", "user", "--policy", policy.toString(), "--", "true")
                .expect(2)
                .saying("leave out --network");
    }
}
