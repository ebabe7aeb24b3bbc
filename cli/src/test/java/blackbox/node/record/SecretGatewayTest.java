package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import blackbox.node.record.Installation.Ended;
import blackbox.node.record.Installation.Running;
import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Random credentials of an agent that has only surrogates, and a server that says them again in every way:
/// the server gets them, and they are found nowhere in the VM's memory, in what is stored, or in what is
/// shown.
class SecretGatewayTest {

    private static final String CLIENT = """
            k=$MODEL_KEY
            url=https://api.example/v1
            for path in raw error json hex HEX url utf16 base64/0 base64/1 base64/2 base64url/1 pieces header; do
              curl -sS -i -H "x-api-key: $k" $url/$path >> said; echo >> said
            done
            curl -sS -u "user:$GIT_TOKEN" https://git.example/basic; echo
            curl -sS "https://git.example/basic"; echo
            code() { curl -sS -o /dev/null -w '%{http_code}\\n' "$@"; }
            code -H "x-api-key: $k" $url/gzip
            code -L -H "x-api-key: $k" $url/redirect
            code -H "Cookie: session=$k" https://other.example/
            code "https://other.example/?key=$k"
            code -u "user:$k" https://other.example/
            code -H "Authorization: Bearer $k" $url/raw
            grep -ac "$k" said
            env | grep -c "$k"
            read more || true
            """;

    private static final String PRINTED = """
            got it
            no credentials
            502
            403
            403
            403
            403
            403
            """;

    private static final String CONTROL = "what is there";

    @TempDir
    static Path folder;

    private static final String KEY = "sk-ant-api03-" + random() + "/+=";
    private static final String TOKEN = "ghp_" + random();
    private static final List<String> GOT = new CopyOnWriteArrayList<>();

    private static Installation blackbox;
    private static HttpsUpstream web;
    private static Path policy;

    private static String random() {
        var octets = new byte[24];
        new SecureRandom().nextBytes(octets);
        return Base64.getEncoder().encodeToString(octets);
    }

    @BeforeAll
    static void serve() throws Exception {
        blackbox = Installation.in(folder);
        web = HttpsUpstream.start(folder, "api.example", SecretGatewayTest::answer, "git.example", "other.example");
        Path token = Files.createFile(
                folder.resolve("token"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(token, TOKEN + "\n");
        policy = Files.writeString(folder.resolve("policy.yaml"), """
                version: 1
                rules:
                  - {id: model, host: api.example, paths: ["/v1/**"], secret: model, upstream: "127.0.0.1:%1$d"}
                  - {id: git, host: git.example, secret: git, upstream: "127.0.0.1:%1$d"}
                  - {id: other, host: other.example, upstream: "127.0.0.1:%1$d"}
                secrets:
                  - {id: model, place: "header:x-api-key"}
                  - {id: git, file: %2$s, place: basic}
                """.formatted(web.port(), token));
    }

    @AfterAll
    static void close() {
        web.close();
    }

    private static void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            String host = exchange.getRequestHeaders().getFirst("Host");
            String path = exchange.getRequestURI().getPath();
            String key = exchange.getRequestHeaders().getFirst("X-Api-Key");
            String basic = exchange.getRequestHeaders().getFirst("Authorization");
            GOT.add(host
                    + path
                    + (KEY.equals(key) ? " with the key" : "")
                    + (("Basic " + SecretUpstream.base64("user:" + TOKEN)).equals(basic) ? " with the token" : ""));
            if (host.equals("git.example")) {
                send(exchange, 200, bytes(basic == null ? "no credentials" : "got it"));
                return;
            }
            SecretUpstream.answer(exchange, path.substring("/v1/".length()), String.valueOf(key));
        }
    }

    private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static Map<String, byte[]> forms() {
        var forms = new LinkedHashMap<>(SecretForms.of("the key", KEY));
        forms.putAll(SecretForms.of("the token", TOKEN));
        return forms;
    }

    /// The forms that are in what tar(1) makes of a folder: it reads no holes of the disks in it, and
    /// follows no link.
    private static Set<String> stored() throws Exception {
        Process tar = new ProcessBuilder(
                        "tar",
                        "--create",
                        "--sparse",
                        "--ignore-failed-read",
                        "--file=-",
                        "--directory",
                        blackbox.data().toString(),
                        ".")
                .redirectError(ProcessBuilder.Redirect.DISCARD) // sockets, and files that change
                .start();
        try (InputStream in = tar.getInputStream()) {
            var sought = new LinkedHashMap<>(forms());
            sought.put(
                    CONTROL, bytes("header:x-api-key")); // of the policy, which is in the spool while the run goes on
            return found(in, sought);
        } finally {
            tar.waitFor();
        }
    }

    private static Set<String> found(InputStream in) throws IOException {
        return found(in, forms());
    }

    private static Set<String> found(InputStream in, Map<String, byte[]> forms) throws IOException {
        Map<String, Long> counts = new OctetSearch(forms).in(in).counts();
        counts.values().removeIf(count -> count == 0);
        return counts.keySet();
    }

    private static Set<String> found(String text) throws IOException {
        return found(new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1)));
    }

    private static Running start(String tier) throws IOException {
        List<String> command = new ArrayList<>(Installation.command(
                "record",
                "--json",
                "--tier",
                tier,
                "--policy",
                policy.toString(),
                "--upstream-ca",
                web.certificate().toString()));
        command.addAll(List.of(
                "--secret", "model=env:OUR_KEY", "--secret-env", "MODEL_KEY=model", "--secret-env", "GIT_TOKEN=git"));
        command.addAll(List.of("--", "sh", "-c", CLIENT));
        var builder = new ProcessBuilder(command);
        builder.environment().put("OUR_KEY", KEY);
        return blackbox.start(builder);
    }

    @ParameterizedTest
    @CsvSource({"live, EQUIVALENT, 0", "exact, IDENTICAL, 0"})
    void theServerGetsThemAndNobodyFindsThem(String tier, String verdict, int code) throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root may read a machine's memory");
        GOT.clear();
        Running running = start(tier);
        Map<String, Long> memory;
        Set<String> meanwhile;
        try {
            while (!Files.readString(running.out()).matches("(?s).*\n[0-9]+\n[0-9]+\n")) {
                boolean ended = running.process().waitFor(200, TimeUnit.MILLISECONDS);
                assertFalse(ended, () -> "it ended early: " + read(running.err()));
            }
            var patterns = new LinkedHashMap<>(forms());
            patterns.put(CONTROL, bytes("you said sk-ant-api03-"));
            memory = new ProcessMemory(running.qemu().pid()).count(patterns);
            meanwhile = stored();
        } finally {
            running.process().outputWriter().close();
        }
        Ended ended = running.await();
        ended.expect(0);

        String out = ended.out();
        assertTrue(out.startsWith(PRINTED), out);
        assertTrue(out.substring(PRINTED.length()).matches("[1-9][0-9]+\n1\n"), out);
        assertTheServerGotThem();
        Long control = memory.remove(CONTROL);
        assertTrue(control != null && control > 0, "the search finds what is there");
        memory.forEach((form, count) -> assertEquals(0L, count, form + " is in the VM's memory"));
        assertEquals(Set.of(CONTROL), meanwhile);
        var after = new TreeSet<>(stored());
        after.remove(CONTROL);
        assertEquals(Set.of(), after);
        assertEquals(Set.of(), found(out + ended.err()));
        String run = ended.recorded().path("run").asText();
        blackbox.verifyComplete(run);
        assertEquals(
                Set.of(), found(blackbox.run("events", run, "--json").expect(0).out()));
        assertEquals(
                Set.of(), found(blackbox.run("touched", run, "--all").expect(0).out()));
        assertNotInABundle(run);
        assertTheUsesAreRecorded(run);
        GOT.clear();
        // No credential is needed for it, and no variable.
        JsonNode replayed = blackbox.run("replay", run, "--json").expect(code).json();
        assertEquals(verdict, replayed.path("verdict").asText(), replayed::toString);
        assertEquals(List.of(), GOT);
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static void assertTheServerGotThem() {
        var expected = new ArrayList<String>();
        for (String path : List.of(
                "raw",
                "error",
                "json",
                "hex",
                "HEX",
                "url",
                "utf16",
                "base64/0",
                "base64/1",
                "base64/2",
                "base64url/1",
                "pieces",
                "header")) {
            expected.add("api.example/v1/" + path + " with the key");
        }
        expected.addAll(List.of(
                "git.example/basic with the token",
                "git.example/basic",
                "api.example/v1/gzip with the key",
                "api.example/v1/redirect with the key"));
        assertEquals(expected, List.copyOf(GOT));
    }

    private static void assertNotInABundle(String run) throws Exception {
        Path bundle = folder.resolve(run + ".zip");
        blackbox.run("export", run, "--format", "bundle", "--out", bundle.toString())
                .expect(0);
        try (var zip = new ZipFile(bundle.toFile())) {
            var entries = zip.entries();
            while (entries.hasMoreElements()) {
                var entry = entries.nextElement();
                try (InputStream in = zip.getInputStream(entry)) {
                    assertEquals(Set.of(), found(in), entry.getName());
                }
            }
        }
    }

    private static void assertTheUsesAreRecorded(String run) throws Exception {
        var uses = new TreeMap<String, Integer>();
        for (JsonNode each : blackbox.events(run, "egress.secret")) {
            JsonNode detail = each.path("detail");
            uses.merge(
                    detail.path("secret").asText() + " " + each.path("what").asText() + " "
                            + each.path("host").asText() + " "
                            + detail.path("rule").asText("-") + " "
                            + detail.path("place").asText(),
                    1,
                    Integer::sum);
        }
        assertEquals(
                new TreeMap<>(Map.of(
                        "git absent git.example git Authorization: Basic", 1,
                        "git put git.example git Authorization: Basic", 1,
                        "model put api.example model the header field x-api-key", 15,
                        "model reflected api.example model the answer", 14,
                        "model elsewhere other.example other the target", 2,
                        "model elsewhere other.example other the field cookie", 1,
                        "model elsewhere other.example other the field authorization", 1,
                        "model elsewhere api.example model the field authorization", 1)),
                uses);
        JsonNode touched =
                blackbox.run("touched", run, "--egress", "--json").expect(0).json();
        JsonNode first = touched.path("secrets").path(0);
        assertEquals("model", first.path("secret").asText(), touched::toString);
        assertEquals("put", first.path("what").asText(), touched::toString);
        assertEquals(15, first.path("times").asLong(), touched::toString);
        assertTrue(touched.path("limits").toString().contains("a server can return one in any other form"));
    }

    @Test
    void whatCannotBeDoneIsRefusedBefore() throws Exception {
        record(policy, "--secret-env", "T=git")
                .expect(2)
                .saying("where the secret model is: add --secret model=file:PATH");
        record(policy, "--secret", "model=env:NOT_SET_ANYWHERE", "--secret-env", "T=git")
                .expect(2)
                .saying("secret model: the variable NOT_SET_ANYWHERE is not set here");
        record(policy, "--secret", "model=command:echo short", "--secret-env", "T=git", "--secret-env", "M=model")
                .expect(2)
                .saying("secret model: what echo prints: it has 5 octets; a secret has 8 to 4096");
        Ended refused = record(policy, "--secret", "model=" + KEY);
        refused.expect(2).saying("a value is never an argument");
        assertFalse(refused.err().contains(KEY));
        record(policy, "--secret", "model=env:PATH", "--secret-env", "T=git", "--env", "PATH=/bin")
                .expect(2)
                .saying("the variable PATH is to have a secret's surrogate");
        Path own = Files.writeString(folder.resolve("own.yaml"), """
                version: 1
                rules: [{id: model, host: api.example, secret: model}]
                secrets: [{id: model, env: PATH, place: "header:host"}]
                """);
        record(own).expect(2).saying("secret model: the gateway writes the header field host itself");
        Path open = Files.writeString(folder.resolve("open"), "a token of others\n");
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r-----"));
        record(policy, "--secret", "model=file:" + open, "--secret-env", "M=model", "--secret-env", "T=git")
                .expect(2)
                .saying("can be used by others than its owner: chmod 600");
    }

    private static Ended record(Path with, String... options) throws Exception {
        var arguments = new ArrayList<>(List.of("record", "--policy", with.toString()));
        arguments.addAll(List.of(options));
        arguments.addAll(List.of("--", "true"));
        return blackbox.run(arguments.toArray(String[]::new));
    }
}
