package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Clients that nobody here wrote, each over TLS through the gateway, without an option or a setting for its
/// certificates: what they asked for comes, and each of their requests and connections is in the record, as guest and
/// host saw it (`docs/CLIENTS.md`). One image and one recording for all of them.
class ClientsGatewayTest {

    /// @param command for `sh -eu`
    /// @param said how what it printed ends
    /// @param requests what the gateway forwarded for it: method, URL and status
    record Client(String name, String command, String said, List<String> requests) {
        Client(String name, String command, String said, String... requests) {
            this(name, command, said, List.of(requests));
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static final String FETCH = """
            import java.net.*;
            import java.net.http.*;

            public class Fetch {
                public static void main(String[] arguments) throws Exception {
                    if (arguments[0].equals("HttpClient")) {
                        var request = HttpRequest.newBuilder(URI.create("https://web.example/java/HttpClient"));
                        var body = HttpResponse.BodyHandlers.ofString();
                        System.out.println(HttpClient.newHttpClient().send(request.build(), body).body());
                    } else {
                        var connection = new URL("https://web.example/java/HttpURLConnection").openConnection();
                        System.out.write(connection.getInputStream().readAllBytes());
                        System.out.println();
                    }
                }
            }
            """;

    private static final List<Client> CLIENTS = List.of(
            new Client(
                    "curl",
                    "curl -sS -w '\\n' https://web.example/curl/1 -d posted https://web.example/curl/2",
                    "served /curl/1 to POST\nserved /curl/2 to POST\n",
                    "POST https://web.example:443/curl/1 200",
                    "POST https://web.example:443/curl/2 200"),
            new Client(
                    "git",
                    """
                    git clone -q https://git.example/greeting.git
                    cd greeting
                    cat hello.txt
                    git fetch -q origin later
                    git show FETCH_HEAD:hello.txt
                    """,
                    "hello from git\nlater from git\n",
                    "GET https://git.example:443/greeting.git/info/refs?service=git-upload-pack 200",
                    "POST https://git.example:443/greeting.git/git-upload-pack 200"),
            new Client("openssl-s_client", """
                    printf 'GET /openssl HTTP/1.1\\r\\nHost: web.example\\r\\nConnection: close\\r\\n\\r\\n' |
                        openssl s_client -quiet -verify_return_error -connect web.example:443 2>/dev/null
                    """, "served /openssl to GET", "GET https://web.example:443/openssl 200"),
            new Client(
                    "python-ssl",
                    """
                    python3 - <<'PYTHON'
                    import socket, ssl
                    context = ssl.create_default_context()
                    with socket.create_connection(('web.example', 443)) as raw:
                        with context.wrap_socket(raw, server_hostname='web.example') as tls:
                            print(tls.version())
                            tls.sendall(b'GET /python/ssl HTTP/1.1\\r\\nHost: web.example\\r\\nConnection: close\\r\\n\\r\\n')
                            print(b''.join(iter(lambda: tls.recv(4096), b'')).decode().splitlines()[-1])
                    PYTHON
                    """,
                    "TLSv1.3\nserved /python/ssl to GET\n",
                    "GET https://web.example:443/python/ssl 200"),
            new Client(
                    "python-urllib",
                    """
                    python3 - <<'PYTHON'
                    import urllib.request
                    print(urllib.request.urlopen('https://web.example/python/urllib').read().decode())
                    PYTHON
                    """,
                    "served /python/urllib to GET\n",
                    "GET https://web.example:443/python/urllib 200"),
            new Client(
                    "python-requests",
                    """
                    python3 - <<'PYTHON'
                    import requests
                    with requests.Session() as session:
                        print(session.get('https://web.example/python/requests').text)
                        print(session.post('https://web.example/python/requests', json=[1]).text)
                    PYTHON
                    """,
                    "served /python/requests to GET\nserved /python/requests to POST\n",
                    "GET https://web.example:443/python/requests 200",
                    "POST https://web.example:443/python/requests 200"),
            new Client("node-fetch", """
                    node -e "fetch('https://web.example/node/fetch').then(got => got.text()).then(console.log)"
                    """, "served /node/fetch to GET\n", "GET https://web.example:443/node/fetch 200"),
            new Client("node-https", """
                    node -e "require('https').get('https://web.example/node/https', got => got.pipe(process.stdout))"
                    """, "served /node/https to GET", "GET https://web.example:443/node/https 200"),
            new Client("node-without-its-variable", """
                    env -u NODE_EXTRA_CA_CERTS node -e "fetch('https://web.example/never').catch(failure => \
                        console.log(failure.cause.code))"
                    """, "SELF_SIGNED_CERT_IN_CHAIN\n"),
            new Client(
                    "java-HttpClient",
                    "java -XX:TieredStopAtLevel=1 -cp /workspace Fetch HttpClient",
                    "served /java/HttpClient to GET\n",
                    "GET https://web.example:443/java/HttpClient 200"),
            new Client(
                    "java-HttpURLConnection",
                    "java -XX:TieredStopAtLevel=1 -cp /workspace Fetch HttpURLConnection",
                    "served /java/HttpURLConnection to GET\n",
                    "GET https://web.example:443/java/HttpURLConnection 200"),
            new Client(
                    "go-gh",
                    "GH_HOST=go.example GH_ENTERPRISE_TOKEN=none gh api greeting",
                    "served /api/v3/greeting to GET",
                    "GET https://go.example:443/api/v3/greeting 200"),
            new Client(
                    "rust-tldr",
                    "tldr --update && tldr greeting",
                    "hello from tldr\n\n",
                    "GET https://tldr.sh:443/assets/tldr.zip 200"),
            new Client(
                    "npm",
                    """
                    npm install --no-audit --registry https://npm.example/ greeting
                    node -p "require('greeting')"
                    """,
                    "hello from npm\n",
                    "GET https://npm.example:443/greeting 200",
                    "GET https://npm.example:443/greeting/-/greeting-1.0.0.tgz 200"),
            new Client(
                    "pip",
                    """
                    pip install --index-url https://pip.example/simple --target lib greeting
                    PYTHONPATH=lib python3 -c 'import greeting; print(greeting.TEXT)'
                    """,
                    "hello from pip\n",
                    "GET https://pip.example:443/simple/greeting/ 200",
                    "GET https://pip.example:443/simple/greeting/greeting-1.0.0-py3-none-any.whl 200"),
            new Client(
                    "apt",
                    """
                    echo 'deb [trusted=yes] https://apt.example/ ./' >/etc/apt/sources.list
                    apt-get update
                    apt-get install -y greeting
                    greeting
                    """,
                    "hello from apt\n",
                    "GET https://apt.example:443/./Packages 200",
                    "GET https://apt.example:443/./greeting.deb 200"));

    private static final List<String> HOSTS =
            List.of("web.example", "git.example", "go.example", "npm.example", "pip.example", "apt.example", "tldr.sh");

    @TempDir
    static Path folder;

    private static Installation blackbox;
    private static HttpsUpstream web;
    private static Path lock;
    private static Path results;
    private static String run;
    private static JsonNode touched;

    @BeforeAll
    static void record() throws Exception {
        blackbox = Installation.in(folder);
        Path resources = Path.of(Objects.requireNonNull(ClientsGatewayTest.class.getResource("/clients"))
                .toURI());
        Path image = Files.createDirectory(folder.resolve("image")); // its lock is written there
        for (String each : List.of("clients.json", "package-lock.json")) {
            Files.copy(resources.resolve(each), image.resolve(each));
        }
        blackbox.run("image", "build", image.resolve("clients.json").toString()).expect(0);
        lock = image.resolve("clients.lock");
        Path served = Files.createDirectory(folder.resolve("served"));
        succeeds(served, "sh", resources.resolve("publish.sh").toString());
        var git = new GitBackend(served.resolve("git.example"));
        web = HttpsUpstream.start(
                folder,
                HOSTS.getFirst(),
                exchange -> answer(served, git, exchange),
                HOSTS.subList(1, HOSTS.size()).toArray(String[]::new));
        Ended ended = blackbox.run(
                        "record",
                        "--json",
                        "--tier",
                        "live",
                        "--image",
                        "clients",
                        "--memory",
                        "2G",
                        "--user",
                        "root",
                        "--policy",
                        policy().toString(),
                        "--upstream-ca",
                        web.certificate().toString(),
                        "--workspace",
                        workspace(resources.resolve("clients.sh")).toString(),
                        "--",
                        "sh",
                        "clients.sh",
                        "/workspace/clients",
                        "/workspace/results")
                .expect(0);
        run = ended.recorded().path("run").asText();
        results = Path.of(ended.recorded().path("workspace").asText()).resolve("results");
        touched = blackbox.run("touched", run, "--egress", "--json").expect(0).json();
    }

    @AfterAll
    static void close() {
        web.close();
    }

    private static Path policy() throws IOException {
        var policy = new StringBuilder("version: 1\nrules:\n");
        for (String host : HOSTS) {
            policy.append("  - {id: %1$s, host: %1$s, upstream: \"127.0.0.1:%2$d\"}\n".formatted(host, web.port()));
        }
        return Files.writeString(folder.resolve("policy.yaml"), policy);
    }

    /// The script, what it runs, and a class for Java.
    private static Path workspace(Path script) throws Exception {
        Path workspace = Files.createDirectory(folder.resolve("workspace"));
        Files.copy(script, workspace.resolve("clients.sh"));
        Path clients = Files.createDirectory(workspace.resolve("clients"));
        for (Client each : CLIENTS) {
            Files.writeString(clients.resolve(each.name() + ".sh"), each.command());
        }
        Path source = Files.writeString(folder.resolve("Fetch.java"), FETCH);
        int compiled = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "--release", "17", "-d", workspace.toString(), source.toString());
        assertEquals(0, compiled);
        return workspace;
    }

    private static void succeeds(Path in, String... command) throws Exception {
        Process process = new ProcessBuilder(command)
                .directory(in.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
    }

    private static void answer(Path served, GitBackend git, HttpExchange exchange) throws IOException {
        try (exchange) {
            String host = exchange.getRequestHeaders().getFirst("Host");
            String path = exchange.getRequestURI().getPath();
            if (host.equals("git.example")) {
                git.answer(exchange);
                return;
            }
            exchange.getRequestBody().transferTo(OutputStream.nullOutputStream());
            byte[] octets = ("served " + path + " to " + exchange.getRequestMethod()).getBytes(StandardCharsets.UTF_8);
            if (Files.isDirectory(served.resolve(host))) {
                Path file = served.resolve(host + path).normalize();
                file = Files.isDirectory(file) ? file.resolve("index") : file;
                if (!Files.isRegularFile(file)) {
                    exchange.sendResponseHeaders(404, -1);
                    return;
                }
                octets = Files.readAllBytes(file);
                if (path.startsWith("/simple/") && path.endsWith("/")) {
                    exchange.getResponseHeaders().set("Content-Type", "text/html");
                }
            }
            exchange.sendResponseHeaders(200, octets.length);
            exchange.getResponseBody().write(octets);
        }
    }

    static Stream<Client> clients() {
        return CLIENTS.stream();
    }

    @ParameterizedTest
    @MethodSource("clients")
    void worksAndIsInTheRecord(Client client) throws Exception {
        String said = Files.readString(results.resolve(client.name() + ".out"));
        assertEquals(
                "0", Files.readString(results.resolve(client.name() + ".code")).strip(), said);
        assertTrue(said.endsWith(client.said()), said);
        Set<String> recorded = new TreeSet<>();
        for (JsonNode each : touched.path("httpRequests")) {
            if (each.path("ended").asText().equals("answered")) {
                recorded.add(each.path("method").asText() + " "
                        + each.path("url").asText() + " " + each.path("status").asInt());
            }
        }
        assertTrue(recorded.containsAll(client.requests()), () -> client.requests() + " are not all in " + recorded);
    }

    /// Without a time of its own, so that an image is the same each time that it is built, and a replay's guest too.
    @Test
    void javasStoreHasTheAuthorityOfTheRun() throws Exception {
        var store = KeyStore.getInstance("JKS");
        try (InputStream in = Files.newInputStream(results.resolve("cacerts"))) {
            store.load(in, "changeit".toCharArray()); // and its digest is right
        }
        long epoch = new ObjectMapper().readTree(lock.toFile()).path("epoch").asLong();
        for (String each : Collections.list(store.aliases())) {
            long since = each.equals("debian:blackbox-egress.pem") ? 0 : epoch;
            assertEquals(since, store.getCreationDate(each).toInstant().getEpochSecond(), each);
        }
        var authority = (X509Certificate) store.getCertificate("debian:blackbox-egress.pem");
        authority.verify(authority.getPublicKey());
        assertTrue(store.size() > 100, "those of Debian are still there");
    }

    @Test
    void guestAndHostSawTheSame() throws Exception {
        blackbox.verifyComplete(run);
        JsonNode sides = touched.path("guestAndHost");
        assertTrue(sides.path("compared").asBoolean(), sides::toString);
        assertEquals(0, sides.path("findings").size(), sides::toString);
        long decided = blackbox.events(run, "egress.decision").stream()
                .filter(each -> each.path("protocol").asText().equals("tcp")
                        && each.path("detail").path("stage").asText().equals("connect"))
                .count();
        long begun = blackbox.events(run, "net.syn").stream()
                .filter(each -> each.path("local").path("ip").asText().endsWith("10.0.2.15"))
                .count();
        assertTrue(decided >= CLIENTS.size(), sides::toString);
        assertEquals(decided, begun);
        assertEquals(decided, sides.path("connections").asLong());
        for (JsonNode each : touched.path("egressDecisions")) {
            assertEquals("allow", each.path("verdict").asText(), each::toString);
        }
    }
}
