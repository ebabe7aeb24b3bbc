package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.exit.ExitCodes;
import blackbox.recorder.keys.KeyFile;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// `export` in the forms of others' tools, as a program calls it. What is in the files is tested where they are made.
class ExportCommandTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Instant START = Instant.parse("2026-11-21T09:00:00Z");
    private static final long START_NS = START.getEpochSecond() * 1_000_000_000L;

    @TempDir
    Path data;

    private final RunId run = RunId.create(START, new Random(7));

    private void record(boolean calls) throws Exception {
        var key = KeyFile.loadOrCreate(data.resolve("keys"), "recorder");
        var sealer = new RunSealer(run, key, Spool.create(data.resolve("spool"), run), InstantSource.fixed(START));
        sealer.append(new Event.RunOpen(EventHeader.host(START_NS), Text.of("first"), "{\"tier\":\"live\"}"));
        if (calls) {
            sealer.append(new Event.AgentCall(
                    Kind.LLM_CALL,
                    EventHeader.host(START_NS + 9),
                    Text.of("openai-chat"),
                    new Endpoint("10.0.2.15", 4000),
                    new Endpoint("198.18.0.1", 443),
                    Text.of("model.example"),
                    "{\"number\":0,\"provider\":\"openai\",\"requestModel\":\"m-1\",\"status\":500,\"askedAtNs\":"
                            + (START_NS + 1) + ",\"error\":{\"type\":\"server_error\",\"message\":\"secret words\"}}"));
        }
        sealer.append(new Event.RunClose(EventHeader.host(START_NS + 10), sealer.size(), 0, 0, null, null));
        sealer.seal();
    }

    private Ran export(String... options) {
        var all = new String[options.length + 4];
        all[0] = "export";
        all[1] = "last";
        System.arraycopy(options, 0, all, 2, options.length);
        all[options.length + 2] = "--data";
        all[options.length + 3] = data.toString();
        return Ran.of(all);
    }

    @Test
    void aRunsCallsAreAFileOfTraces() throws Exception {
        record(true);
        Path file = data.resolve("run.otlp.jsonl");
        Ran ran = export("--format", "otlp", "--out", file.toString(), "--json");
        assertEquals(ExitCodes.OK, ran.exitCode(), ran.err());
        JsonNode said = JSON.readTree(ran.out());
        assertEquals(run.value(), said.path("run").asText());
        assertEquals(1, said.path("modelSpans").asLong());
        assertEquals(0, said.path("toolSpans").asLong());
        assertEquals(Files.size(file), said.path("bytes").asLong());
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        JsonNode spans = JSON.readTree(Files.readString(file))
                .path("resourceSpans")
                .path(0)
                .path("scopeSpans")
                .path(0)
                .path("spans");
        assertEquals("chat m-1", spans.path(1).path("name").asText(), spans::toString);
        assertEquals(said.path("trace").asText(), spans.path(1).path("traceId").asText());
        assertTrue(said.path("limits").size() > 0, said::toString);
        assertTrue(ran.err().contains("blackbox: " + said.path("limits").path(0).asText()), ran.err());
        Ran again = export("--format", "otlp", "--out", file.toString());
        assertEquals(ExitCodes.BAD_INPUT, again.exitCode());
        assertTrue(again.err().contains("already exists"), again.err());
    }

    @Test
    void aRunsCallsAreSentToAReceiverOfTraces() throws Exception {
        record(true);
        var bodies = new ArrayList<String>();
        HttpServer collector = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        collector.createContext("/v1/traces", exchange -> {
            bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            byte[] answer = (bodies.size() == 1 ? "{}" : "{\"partialSuccess\":{\"rejectedSpans\":\"1\"}}")
                    .getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        collector.start();
        try {
            String endpoint = "http://localhost:" + collector.getAddress().getPort();
            Ran sent = export("--format", "otlp", "--endpoint", endpoint, "--json");
            assertEquals(ExitCodes.OK, sent.exitCode(), sent.err());
            JsonNode said = JSON.readTree(sent.out());
            assertEquals(endpoint, said.path("otlp").asText());
            assertEquals(2, said.path("spans").asLong());
            assertEquals(0, said.path("rejectedSpans").asLong());
            assertEquals(export("--format", "otlp", "--out", "-").out(), bodies.getFirst() + "\n");
            Ran partly = export("--format", "otlp", "--endpoint", endpoint);
            assertEquals(ExitCodes.FAILED, partly.exitCode(), partly.out());
            assertTrue(partly.out().contains("2 spans sent, of which 1 were rejected"), partly.out());
        } finally {
            collector.stop(0);
        }
        for (String[] wrong : List.of(
                new String[] {"--format", "otlp", "--endpoint", "http://collector.example:4318"},
                new String[] {"--format", "otlp", "--endpoint", "localhost:4318"},
                new String[] {"--format", "otlp", "--endpoint", "https://collector.example", "--out", "-"},
                new String[] {"--format", "json", "--endpoint", "https://collector.example"})) {
            Ran refused = export(wrong);
            assertEquals(ExitCodes.BAD_INPUT, refused.exitCode(), refused.err());
            assertTrue(refused.err().contains("--endpoint"), refused.err());
        }
    }

    /// Each line's command is one that there is, and ends with the code that the map says.
    @Test
    void controlsNameCommandsWhoseExitCodesAreAsTheySay() throws Exception {
        record(false);
        Ran ran = export("--format", "controls", "--out", "-");
        assertEquals(ExitCodes.OK, ran.exitCode(), ran.err());
        JsonNode map = JSON.readTree(ran.out());
        assertEquals(run.value(), map.path("run").asText());
        var codes = new TreeMap<String, Integer>();
        for (JsonNode control : map.path("controls")) {
            for (String field : List.of("framework", "edition", "control", "asks", "shows", "doesNotShow")) {
                assertTrue(control.path(field).asText().length() > 1, () -> field + " of " + control);
            }
            String command = control.path("command").asText();
            assertTrue(command.contains(run.value()), command);
            assertTrue(command.startsWith("blackbox "), command);
            String[] words = (command.substring("blackbox ".length()) + " --data " + data).split(" ", -1);
            JsonNode code = control.path("exitCode");
            assertTrue(List.of("check", "review").contains(control.path("kind").asText()), control::toString);
            assertTrue(code.isNull() || control.path("kind").asText().equals("check"), control::toString);
            if (code.isNull()) {
                Main.commandLine(words).parseArgs(words);
            } else {
                assertEquals(Ran.of(words).exitCode(), code.asInt(), command);
                codes.merge(code + "", 1, Integer::sum);
            }
        }
        // The run has a close and no tracer: its losses are not known, and nobody vouches for its time.
        assertTrue(codes.getOrDefault("1", 0) > 5, codes::toString);
        JsonNode said = JSON.readTree(export("--format", "controls", "--json", "--out", data + "/map.json")
                .out());
        assertEquals(codes.get("1"), said.path("unmet").asInt(), said::toString);
        assertEquals(
                map.path("controls").size(),
                said.path("met").asInt()
                        + said.path("unmet").asInt()
                        + said.path("untried").asInt());
    }

    @Test
    void standardOutputHasTheTracesAndNothingElse() throws Exception {
        record(true);
        Ran without = export("--format", "otlp", "--out", "-");
        assertEquals(ExitCodes.OK, without.exitCode(), without.err());
        assertEquals(1, without.out().lines().count(), without.out());
        assertFalse(without.out().contains("secret words"), without.out());
        assertTrue(JSON.readTree(without.out()).has("resourceSpans"));
        Ran with = export("--format", "otlp", "--content", "--out", "-");
        assertTrue(with.out().contains("secret words"), with.out());
        Ran both = export("--format", "otlp", "--out", "-", "--json");
        assertEquals(ExitCodes.BAD_INPUT, both.exitCode());
        assertEquals("", both.out());
    }

    @Test
    void whatCannotBeExportedIsSaidInOneSentence() throws Exception {
        record(false);
        Path file = data.resolve("none.jsonl");
        Ran none = export("--format", "otlp", "--out", file.toString());
        assertEquals(ExitCodes.BAD_INPUT, none.exitCode());
        assertTrue(none.err().contains("has no calls of models or MCP servers to export"), none.err());
        assertTrue(none.err().contains("touched " + run + " --calls"), none.err());
        assertEquals(1, none.err().lines().count(), none.err());
        assertFalse(Files.exists(file));
        Ran other = export("--content");
        assertEquals(ExitCodes.BAD_INPUT, other.exitCode());
        assertTrue(other.err().contains("--content applies to --format otlp only"), other.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"ocsf", "json", "csv", "chrome-trace"})
    void eventsAreAFileForItsOwnerAlone(String format) throws Exception {
        record(true);
        Path file = data.resolve("exported");
        Ran ran = export("--format", format, "--out", file.toString(), "--json");
        assertEquals(ExitCodes.OK, ran.exitCode(), ran.err());
        JsonNode said = JSON.readTree(ran.out());
        assertEquals(file.toString(), said.path(format).asText());
        assertEquals(4, said.path("events").asLong(), "open, call, close and heartbeat");
        assertEquals(Files.size(file), said.path("bytes").asLong());
        assertTrue(said.path("limits").size() > 0, said::toString);
        assertTrue(ran.err().contains("blackbox: " + said.path("limits").path(0).asText()), ran.err());
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        Ran again = export("--format", format, "--out", file.toString());
        assertEquals(ExitCodes.BAD_INPUT, again.exitCode());
        assertTrue(again.err().contains("already exists"), again.err());
        Ran standard = export("--format", format, "--out", "-");
        assertEquals(ExitCodes.OK, standard.exitCode(), standard.err());
        assertEquals(Files.readString(file), standard.out());
    }

    @Test
    void ocsfIsAFileOfParquetToo() throws Exception {
        record(true);
        Path file = data.resolve("exported");
        Ran ran = export("--format", "ocsf-parquet", "--out", file.toString(), "--json");
        assertEquals(ExitCodes.OK, ran.exitCode(), ran.err());
        JsonNode said = JSON.readTree(ran.out());
        assertEquals(file.toString(), said.path("ocsf-parquet").asText());
        assertEquals(4, said.path("events").asLong());
        assertTrue(said.path("limits").size() > 0, said::toString);
        String octets = Files.readString(file, StandardCharsets.ISO_8859_1);
        assertTrue(octets.startsWith("PAR1") && octets.endsWith("PAR1"));
        assertEquals(octets.length(), said.path("bytes").asLong());
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    }

    /// The page has the bundle's octets, which verify; what in them no page can read is said when it is written.
    @Test
    void aPageCarriesTheBundle() throws Exception {
        record(false);
        Path page = data.resolve("run.html");
        Ran ran = export("--format", "html", "--out", page.toString(), "--json");
        assertEquals(ExitCodes.OK, ran.exitCode(), ran.err());
        JsonNode said = JSON.readTree(ran.out());
        assertEquals(page.toString(), said.path("html").asText());
        assertEquals(Files.size(page), said.path("bytes").asLong());
        assertTrue(said.path("limits").path(0).asText().contains("not in the table"), said::toString);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(page)));
        String base64 = Files.readString(page).replaceAll("(?s).*id=\"bundle\">([^<]+)<.*", "$1");
        Path zip = Files.write(data.resolve("carried.zip"), Base64.getDecoder().decode(base64));
        Ran verified = Ran.of("verify", zip.toString(), "--json");
        assertEquals("VERIFIED", JSON.readTree(verified.out()).path("integrity").asText(), verified.out());
        Ran bundle =
                export("--format", "bundle", "--out", data.resolve("run.zip").toString(), "--json");
        assertEquals(
                JSON.readTree(bundle.out()).path("files").asLong(),
                said.path("files").asLong());
        try (var files = new ZipFile(data.resolve("run.zip").toFile())) {
            assertNotNull(files.getEntry("open.html"));
        }
    }

    @Test
    void nothingIsLeftOfAnExportThatFails() throws Exception {
        record(false);
        Path file = data.resolve("none.pcapng");
        Ran none = export("--format", "pcapng", "--out", file.toString());
        assertEquals(ExitCodes.BAD_INPUT, none.exitCode(), none.err());
        assertTrue(none.err().contains("has no frames to export"), none.err());
        try (Stream<Path> left = Files.list(data)) {
            assertEquals(
                    List.of(),
                    left.filter(each -> each.toString().contains("pcapng")).toList());
        }
    }

    @Test
    void anUnknownFormatNamesThoseThatThereAre() {
        Ran ran = export("--format", "xml");
        assertEquals(ExitCodes.BAD_INPUT, ran.exitCode());
        assertTrue(ran.err().contains("bundle, html, tiles, replay, pdf, controls, ocsf"), ran.err());
    }
}
