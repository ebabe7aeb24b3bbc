package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import blackbox.node.record.Installation.Ended;
import blackbox.node.record.Installation.Running;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Credentials of a seed, which a server is given and says again in ways of that seed, are in no place that
/// a run leaves anything in, in none of the forms of [SecretForms]; what stands for them is in each, which
/// shows that the search of it finds what is there.
///
/// One run, in a tier of that seed; `-Dblackbox.secret.runs=10` makes it ten, in turns. The table goes to
/// standard output.
class SecretSearchTest {
    private static final int RUNS = Integer.getInteger("blackbox.secret.runs", 1);
    private static final int REQUESTS = 12;

    private static final String CLIENT = """
            ask() { curl -sS -i "$@" >> said; echo >> said; }
            for way in $WAYS; do ask -H "x-api-key: $MODEL_KEY" https://api.example/v1/$way; done
            ask -u "user:$GIT_TOKEN" https://git.example/basic
            echo "kept $MODEL_KEY" > kept
            sync
            echo "it has $MODEL_KEY" >&2
            echo "it has $MODEL_KEY"
            echo done
            read more || true
            """;

    @TempDir
    static Path folder;

    private static final List<String> GOT = new CopyOnWriteArrayList<>();
    private static Installation blackbox;
    private static HttpsUpstream web;
    private static volatile String key = "";
    private static volatile String token = "";

    @BeforeAll
    static void serve() throws Exception {
        blackbox = Installation.in(folder);
        web = HttpsUpstream.start(folder, "api.example", SecretSearchTest::answer, "git.example");
    }

    @AfterAll
    static void close() {
        web.close();
    }

    private static void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            String path = exchange.getRequestURI().getPath();
            String authorization = exchange.getRequestHeaders().getFirst("Authorization");
            if (path.equals("/basic")) {
                boolean had = ("Basic " + SecretUpstream.base64("user:" + token)).equals(authorization);
                GOT.add(path + (had ? "" : " without it"));
                SecretUpstream.answer(exchange, "error", String.valueOf(authorization) + " is " + token);
            } else {
                String heard = String.valueOf(exchange.getRequestHeaders().getFirst("X-Api-Key"));
                GOT.add(path + (heard.equals(key) ? "" : " without it"));
                SecretUpstream.answer(exchange, path.substring("/v1/".length()), heard);
            }
        }
    }

    private static Stream<Arguments> runs() {
        long first = Long.getLong("blackbox.seed", System.nanoTime());
        System.out.println("SecretSearchTest: -Dblackbox.seed=" + first);
        var random = new Random(first);
        return Stream.iterate(0, run -> run + 1)
                .limit(RUNS)
                .map(run -> Arguments.of(random.nextLong(), (run + first) % 2 == 0 ? "live" : "exact"));
    }

    private static String credential(Random random) {
        var octets = new byte[24];
        random.nextBytes(octets);
        return Base64.getEncoder().encodeToString(octets);
    }

    private static Running start(String tier, List<String> ways) throws IOException {
        Path policy = Files.writeString(folder.resolve("policy.yaml"), """
                version: 1
                rules:
                  - {id: model, host: api.example, paths: ["/v1/**"], secret: model, upstream: "127.0.0.1:%1$d"}
                  - {id: git, host: git.example, secret: git, upstream: "127.0.0.1:%1$d"}
                secrets:
                  - {id: model, place: "header:x-api-key"}
                  - {id: git, place: basic}
                """.formatted(web.port()));
        List<String> command = new ArrayList<>(Installation.command("record", "--json", "--tier", tier));
        command.addAll(List.of(
                "--policy",
                policy.toString(),
                "--upstream-ca",
                web.certificate().toString()));
        command.addAll(List.of("--secret", "model=env:OUR_KEY", "--secret-env", "MODEL_KEY=model"));
        command.addAll(List.of("--secret", "git=env:OUR_TOKEN", "--secret-env", "GIT_TOKEN=git"));
        command.addAll(List.of("--env", "WAYS=" + String.join(" ", ways), "--", "sh", "-c", CLIENT));
        var builder = new ProcessBuilder(command);
        builder.environment().putAll(Map.of("OUR_KEY", key, "OUR_TOKEN", token));
        return blackbox.start(builder);
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }

    @ParameterizedTest
    @MethodSource("runs")
    void theServerGetsThemAndTheyAreNowhere(long seed, String tier) throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root may read a machine's memory");
        var random = new Random(seed);
        key = "sk-ant-api03-" + credential(random) + "/+=";
        token = "ghp_" + credential(random);
        List<String> ways = new ArrayList<>(SecretUpstream.WAYS);
        Collections.shuffle(ways, random);
        ways = ways.subList(0, REQUESTS);
        GOT.clear();

        Running running = start(tier, ways);
        SecretSearch search;
        String surrogate;
        try {
            while (!Files.readString(running.out()).endsWith("done\n")) {
                boolean ended = running.process().waitFor(200, TimeUnit.MILLISECONDS);
                assertFalse(ended, () -> "it ended early: " + read(running.err()));
            }
            Map<String, byte[]> forms = SecretForms.of("the key", key);
            forms.putAll(SecretForms.of("the token", token));
            surrogate = Files.readString(running.out()).replaceAll("(?s)it has (\\S+)\n.*", "$1");
            search = new SecretSearch(forms, surrogate);
            search.memory("VM memory", running.qemu().pid());
            search.folder("disks", blackbox.data().resolve("vm"));
            search.folder("captures, open", blackbox.data().resolve("captures"));
            search.folder("spool", blackbox.data().resolve("spool"));
        } finally {
            running.process().outputWriter().close();
        }
        Ended ended = running.await().expect(0);
        afterwards(search, surrogate, ended);

        var expected = new ArrayList<String>();
        ways.forEach(way -> expected.add("/v1/" + way));
        expected.add("/basic");
        print(seed, tier, search);
        assertEquals(expected, List.copyOf(GOT), "what the server got, with the credential each time");
        search.places().forEach((place, searched) -> {
            assertEquals(List.of(), List.copyOf(searched.found()), place);
            assertTrue(searched.canaries() > 0, () -> "the search of " + place + " does not find what is there");
        });
    }

    private static void afterwards(SecretSearch search, String surrogate, Ended ended) throws Exception {
        RunId run = new RunId(ended.recorded().path("run").asText());
        search.search("printed", ended.out() + ended.err());
        search.kafka("Kafka", blackbox.data().resolve("kafka"));
        search.parquet("Parquet", blackbox.data().resolve("warehouse"));
        search.payloads("captures", blackbox.data(), run);
        search.search(
                "events",
                blackbox.run("events", run.value(), "--json").expect(0).out());
        for (String[] shown : List.of(
                new String[] {"touched", run.value(), "--all"},
                new String[] {"touched", run.value(), "--egress", "--json"},
                new String[] {"show", run.value(), "--json"})) {
            search.search("events", blackbox.run(shown).expect(0).out());
        }
        Path bundle = folder.resolve(run.value() + ".zip");
        blackbox.run("export", run.value(), "--format", "bundle", "--out", bundle.toString())
                .expect(0);
        search.bundle("bundle", bundle.toFile(), folder);
        // What is left of all that as it is, which is compressed or encrypted but for this.
        Files.writeString(blackbox.data().resolve("planted"), surrogate);
        search.folder("data folder", blackbox.data());
        blackbox.verifyComplete(run.value());
        assertUses(run.value());
    }

    /// That the gateway saw, and recorded, as many uses as the server got.
    private static void assertUses(String run) throws Exception {
        var uses = new TreeMap<String, Integer>();
        for (JsonNode each : blackbox.events(run, "egress.secret")) {
            uses.merge(each.path("what").asText(), 1, Integer::sum);
        }
        assertEquals(REQUESTS + 1, uses.get("put"), uses::toString);
        assertTrue(uses.getOrDefault("reflected", 0) >= REQUESTS, uses::toString);
    }

    private static void print(long seed, String tier, SecretSearch search) {
        var line = new StringBuilder(
                "seed " + seed + ", " + tier + ": the server got " + GOT.size() + " of " + (REQUESTS + 1));
        search.places()
                .forEach((place, searched) -> line.append("; %s: %,d octets, %d surrogates, %d found"
                        .formatted(
                                place,
                                searched.octets(),
                                searched.canaries(),
                                searched.found().size())));
        System.out.println(line);
    }
}
