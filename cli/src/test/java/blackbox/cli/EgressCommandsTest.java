package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.exit.ExitCodes;
import blackbox.node.egress.GatewayPolicy;
import blackbox.policy.text.PolicyReader;
import blackbox.recorder.keys.KeyFile;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `blackbox egress …` as a program calls it: output and exit codes, with a run that is in the spool.
class EgressCommandsTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Instant START = Instant.parse("2026-11-21T09:00:00Z");
    private static final String POLICY = """
            version: 1
            rules:
              - {id: model, host: api.example, methods: [POST], paths: ["/v1/*"]}
              - {id: gh, host: "*.github.com", process: {exe: /usr/bin/git}}
              - {id: db, host: db.example, ports: [5432]}
            """;

    @TempDir
    Path data;

    private Path policy;

    @BeforeEach
    void record() throws Exception {
        policy = Files.writeString(data.resolve("policy.yaml"), POLICY);
        var run = RunId.create(START, new Random(7));
        var key = KeyFile.loadOrCreate(data.resolve("keys"), "recorder");
        var sealer = new RunSealer(run, key, Spool.create(data.resolve("spool"), run), InstantSource.fixed(START));
        var header = EventHeader.host(START.getEpochSecond() * 1_000_000_000L);
        sealer.append(new Event.RunOpen(header, Text.of("first"), "{\"tier\":\"live\"}"));
        sealer.append(new Event.DnsQuery(
                header,
                Text.of("api.example"),
                1,
                List.of(Text.of("93.184.216.34")),
                "udp",
                new Endpoint("10.0.2.15", 39_999),
                new Endpoint("10.0.2.3", 53)));
        sealer.append(new Event.NetFlow(
                header,
                "tcp",
                new Endpoint("10.0.2.15", 40_000),
                new Endpoint("93.184.216.34", 443),
                Text.of("api.example"),
                500,
                9000,
                null,
                null,
                "closed"));
        sealer.append(new Event.RunClose(header, sealer.size(), 0, 0, null, null));
        sealer.seal();
    }

    private Path file(String name, String text) throws IOException {
        return Files.writeString(data.resolve(name), text);
    }

    private String policyWith(String rules) throws IOException {
        return file("other.yaml", "version: 1\n" + rules).toString();
    }

    @Test
    void theDigestIsThatOfTheCanonicalForm() {
        Ran validated = Ran.of("egress", "validate", policy.toString());
        Ran canonical = Ran.of("egress", "validate", policy.toString(), "--canonical");
        assertEquals(ExitCodes.OK, validated.exitCode(), validated.err());
        assertEquals(
                validated.out().strip(), "sha256:" + Hash.sha256(canonical.out().getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void whatIsNoPolicyIsSaidByLine() throws Exception {
        String bad = policyWith("rules:\n- {id: a, host: \"*.com\"}\n- {id: a, hots: b}\n");
        Ran validated = Ran.of("egress", "validate", bad);
        assertEquals(ExitCodes.DOES_NOT_HOLD, validated.exitCode());
        assertEquals(
                List.of(bad + ":3:17", bad + ":4:3", bad + ":4:11"),
                validated
                        .err()
                        .lines()
                        .map(line -> line.substring(0, line.indexOf(": ")))
                        .toList(),
                validated.err());
        JsonNode json =
                JSON.readTree(Ran.of("egress", "validate", bad, "--json").out());
        assertFalse(json.path("valid").asBoolean(true));
        assertEquals(3, json.path("problems").path(0).path("line").asInt());
        Ran explained = Ran.of("egress", "explain", bad, "https://a.example/");
        assertEquals(ExitCodes.BAD_INPUT, explained.exitCode());
        assertTrue(explained.err().contains("other.yaml is no policy: 3 errors"), explained.err());
        assertEquals("", explained.out());
    }

    private static List<String> stages(JsonNode explained) {
        return StreamSupport.stream(explained.path("stages").spliterator(), false)
                .map(each ->
                        each.path("stage").asText() + " " + each.path("verdict").asText() + " "
                                + each.path("rule").asText())
                .toList();
    }

    private JsonNode explain(int exitCode, String... arguments) throws Exception {
        var all = new String[arguments.length + 4];
        System.arraycopy(new String[] {"egress", "explain", policy.toString(), "--json"}, 0, all, 0, 4);
        System.arraycopy(arguments, 0, all, 4, arguments.length);
        Ran ran = Ran.of(all);
        assertEquals(exitCode, ran.exitCode(), ran.out() + ran.err());
        return JSON.readTree(ran.out());
    }

    @Test
    void aUrlIsExplainedStageByStage() throws Exception {
        JsonNode allowed = explain(ExitCodes.OK, "https://API.example/v1/messages", "--method", "POST");
        assertEquals(
                List.of("dns allow model", "connect allow model", "tls allow model", "http allow model"),
                stages(allowed));
        assertTrue(allowed.path("allowed").asBoolean());
        assertEquals(
                List.of("dns allow model", "connect allow model", "tls allow model", "http deny default"),
                stages(explain(ExitCodes.DOES_NOT_HOLD, "https://api.example/v1/messages")));
        assertEquals(
                List.of("dns allow model", "connect deny default"),
                stages(explain(ExitCodes.DOES_NOT_HOLD, "http://api.example/v1/messages")));
        assertEquals(List.of("dns deny default"), stages(explain(ExitCodes.DOES_NOT_HOLD, "evil.example")));
        assertEquals(
                List.of("dns allow db", "connect allow db"), stages(explain(ExitCodes.OK, "tcp://db.example:5432")));
        assertEquals(
                List.of("dns allow gh", "connect deny default"),
                stages(explain(ExitCodes.DOES_NOT_HOLD, "wss://raw.github.com/x")));
        assertEquals(
                "ws allow gh",
                stages(explain(ExitCodes.OK, "wss://raw.github.com/x", "--process", "/usr/bin/git"))
                        .getLast());
        assertEquals(
                List.of("connect deny builtin:loopback"),
                stages(explain(ExitCodes.DOES_NOT_HOLD, "http://[::ffff:127.0.0.1]:8080/")));
    }

    @Test
    void anExplanationSaysWhatIsStillNeeded() throws Exception {
        assertEquals(
                List.of("dns allow model", "connect allow model", "http deny default"),
                stages(explain(ExitCodes.DOES_NOT_HOLD, "tcp://api.example:443")));
        String other = policyWith("""
                rules:
                  - {id: m, mcp: {url: "https://mcp.example/", tools: [search]}}
                  - {id: u, host: up.example, upstream: "127.0.0.1:8080", secret: s}
                secrets: [{id: s, env: KEY, place: "header:authorization"}]
                """);
        Ran up = Ran.of("egress", "explain", other, "https://up.example/");
        assertEquals(ExitCodes.OK, up.exitCode(), up.err());
        assertTrue(
                up.out()
                        .startsWith(
                                "policy " + Ran.of("egress", "validate", other).out()),
                up.out());
        assertTrue(up.out().contains("; dialled is 127.0.0.1:8080; secret s goes with its requests"), up.out());
        Ran open = Ran.of("egress", "explain", other, "https://mcp.example/", "--method", "POST");
        assertTrue(open.out().contains("each message (--tool)"), open.out());
        assertEquals(
                ExitCodes.OK,
                Ran.of("egress", "explain", other, "https://mcp.example/", "--tool", "search")
                        .exitCode());
        Ran refused = Ran.of("egress", "explain", other, "https://mcp.example/", "--tool", "delete", "--json");
        assertEquals(ExitCodes.DOES_NOT_HOLD, refused.exitCode(), refused.out());
        assertEquals("mcp deny default", stages(JSON.readTree(refused.out())).getLast());
        assertEquals(
                ExitCodes.BAD_INPUT,
                Ran.of("egress", "explain", other, "tcp://mcp.example:443", "--tool", "search")
                        .exitCode());
        String observing = policyWith("mode: observe\nrules: [{id: a, host: a.example}]\n");
        assertEquals(
                ExitCodes.DOES_NOT_HOLD,
                Ran.of("egress", "explain", observing, "https://b.example/").exitCode());
    }

    @Test
    void aUrlThatIsNoneIsRefused() {
        for (String url : List.of(
                "ftp://a.example/",
                "https://",
                "https://user@a.example/",
                "https://a.example\\@b.example/",
                "https://2130706433/",
                "https://0x7f.1/",
                "https://[::1/",
                "tcp://db.example")) {
            Ran ran = Ran.of("egress", "explain", policy.toString(), url);
            assertEquals(ExitCodes.BAD_INPUT, ran.exitCode(), url + ran.out());
            assertEquals("", ran.out());
        }
    }

    @Test
    void aRunIsCheckedAndTheExitCodeSaysWhetherItHolds() throws Exception {
        Ran held = Ran.of("egress", "check", policy.toString(), "first", "--data", data.toString());
        assertEquals(ExitCodes.OK, held.exitCode(), held.out() + held.err());
        String digest = Ran.of("egress", "validate", policy.toString()).out();
        assertTrue(held.out().startsWith("policy " + digest), held.out());
        assertTrue(held.out().contains("allow      tcp api.example (93.184.216.34) port 443"), held.out());
        assertTrue(held.out().contains("1 of 1 kinds of flows would go through, 0 would be refused"), held.out());
        assertTrue(held.out().contains("note: 1 of the allowed are allowed as far as the record shows"), held.out());
        String other = policyWith("rules: [{id: a, host: b.example}]\n");
        Ran refused = Ran.of("egress", "check", other, "last", "last", "--json", "--data", data.toString());
        assertEquals(ExitCodes.DOES_NOT_HOLD, refused.exitCode(), refused.err());
        JsonNode json = JSON.readTree(refused.out());
        assertFalse(json.path("holds").asBoolean(true));
        assertEquals(1, json.path("runs").size());
        JsonNode flow = json.path("runs").path(0).path("flows").path(0);
        assertEquals("deny", flow.path("verdict").asText(), refused.out());
        assertEquals("default", flow.path("rule").asText());
        assertEquals(443, flow.path("remote").path("port").asInt());
        assertEquals(
                ExitCodes.BAD_INPUT,
                Ran.of("egress", "check", policy.toString(), "nope", "--data", data.toString())
                        .exitCode());
    }

    @Test
    void aSuggestionPassesItsOwnCheck() throws Exception {
        Ran suggested = Ran.of("egress", "suggest", "last", "--data", data.toString());
        assertEquals(ExitCodes.OK, suggested.exitCode(), suggested.err());
        Path written = file("suggested.yaml", suggested.out());
        assertEquals(
                List.of(),
                GatewayPolicy.beyond(PolicyReader.read(suggested.out().getBytes(StandardCharsets.UTF_8))),
                "what record --policy would refuse");
        Ran checked = Ran.of("egress", "check", written.toString(), "last", "--data", data.toString());
        assertEquals(ExitCodes.OK, checked.exitCode(), checked.out());
        assertTrue(suggested.err().contains("no tracer reported ready"), suggested.err());
        JsonNode json = JSON.readTree(Ran.of("egress", "suggest", "last", "--json", "--data", data.toString())
                .out());
        assertEquals(suggested.out(), json.path("yaml").asText());
        assertTrue(json.path("limits").toString().contains("no tracer reported ready"), json::toString);
        assertEquals(
                Ran.of("egress", "validate", written.toString()).out().strip(),
                json.path("policy").asText());
    }

    @Test
    void othersListsAreImported() throws Exception {
        Path settings =
                file("settings.json", "{\"network\":{\"allowedDomains\":[\"*.a.example\"],\"deniedDomains\":[]}}");
        Ran imported = Ran.of("egress", "import", settings.toString());
        assertEquals(ExitCodes.OK, imported.exitCode(), imported.err());
        assertTrue(imported.out().contains("host: \"**.a.example\""), imported.out());
        assertEquals(
                ExitCodes.OK,
                Ran.of(
                                "egress",
                                "validate",
                                file("imported.yaml", imported.out()).toString())
                        .exitCode());
        for (String[] arguments : new String[][] {
            {settings.toString(), "--from", "jcard"},
            {settings.toString(), "--from", "squid"},
            {data.resolve("missing").toString()},
            {policy.toString()},
        }) {
            Ran refused = Ran.of(Stream.concat(Stream.of("egress", "import"), Arrays.stream(arguments))
                    .toArray(String[]::new));
            assertEquals(ExitCodes.BAD_INPUT, refused.exitCode(), String.join(" ", arguments) + refused.out());
            assertEquals(1, refused.err().lines().count(), refused.err());
        }
    }
}
