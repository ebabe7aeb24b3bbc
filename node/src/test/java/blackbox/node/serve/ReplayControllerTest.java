package blackbox.node.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.console.Npm;
import blackbox.evidence.TestRun;
import blackbox.node.data.LocalTrust;
import blackbox.query.access.AccessEntries;
import blackbox.query.access.AccessEntry;
import blackbox.schemas.folder.DataFolder;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Replays that are started over the API, with a script in the place of `blackbox replay`.
@Timeout(120)
class ReplayControllerTest {
    private static final Path PICTURES = Path.of("target/pictures").toAbsolutePath();
    private static final ObjectMapper JSON = new ObjectMapper();

    /// Says with what it was started; a replay goes on until the file `go` is there, and a landing answers lines.
    private static final String STAND_IN = """
            #!/bin/sh
            here=$(dirname "$0")
            echo "$$" >> "$here/pids"
            echo "blackbox: started with $*" >&2
            case "$*" in
                *--to=*)
                    echo '{"index": 7, "instruction": 42}'
                    while read -r line; do
                        case $line in
                            slow) until [ -e "$here/go" ]; do sleep 0.1; done; echo '{"slow": true}' ;;
                            quit) exit 0 ;;
                            next) echo '{"index": 8, "instruction": 50}' ;;
                            long)
                                head -c 1000000 /dev/zero | tr '\\0' e >&2
                                head -c 3000000 /dev/zero | tr '\\0' x
                                echo
                                ;;
                            garbage) echo 'no JSON' ;;
                            *) echo "{\\"said\\": \\"$line\\"}" ;;
                        esac
                    done
                    exit 0
                    ;;
            esac
            until [ -e "$here/go" ]; do sleep 0.1; done
            echo '{"verdict": "DIVERGED", "equivalence": null}'
            exit 1
            """;

    @TempDir
    Path folder;

    private final HttpClient client = HttpClient.newHttpClient();
    private TestService service;
    private ApiServer server;
    private TestRun run;
    private String runs;

    @BeforeEach
    void start() throws Exception {
        run = new TestRun(folder.resolve("data"));
        run.open("one");
        run.close(0);
        run.spool(0, run.batches.size());
        runs = "/api/v1/runs/" + run.run + "/replays";
        Path standIn = folder.resolve("stand-in");
        Files.writeString(standIn, STAND_IN);
        Files.setPosixFilePermissions(standIn, PosixFilePermissions.fromString("rwx------"));
        serve(List.of(standIn.toString()));
    }

    private void serve(List<String> launcher) throws Exception {
        var data = new DataFolder(folder.resolve("data"));
        service = TestService.in(data, data, List::of, null, null, launcher);
        server = ApiServer.start(service.context(), ApiServerTest.LOOPBACK, null);
    }

    @AfterEach
    void stop() {
        server.close();
        service.close();
        client.close();
    }

    private HttpResponse<String> call(String method, String path, @Nullable String body) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(server.uri() + path))
                .header("Authorization", "Bearer " + service.token())
                .timeout(Duration.ofSeconds(60))
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (body != null) {
            request.header("Content-Type", "application/json");
        }
        return client.send(request.build(), BodyHandlers.ofString());
    }

    private JsonNode started(String body) throws Exception {
        HttpResponse<String> answer = call("POST", runs, body);
        assertEquals(202, answer.statusCode(), answer::body);
        return JSON.readTree(answer.body());
    }

    private String of(JsonNode replay) {
        return runs + "/" + replay.path("replay").asText();
    }

    /// Waits for it as the console does.
    private JsonNode once(JsonNode replay, Predicate<JsonNode> is) throws Exception {
        long known = -1;
        while (true) {
            HttpResponse<String> all = call("GET", runs + "?after=" + known, null);
            assertEquals(200, all.statusCode(), all::body);
            long version = JSON.readTree(all.body()).path("version").asLong();
            assertNotEquals(known, version, "nothing came");
            known = version;
            JsonNode now = JSON.readTree(call("GET", of(replay), null).body());
            if (is.test(now)) {
                return now;
            }
        }
    }

    private static boolean isOver(JsonNode replay) {
        return !replay.path("endedAt").isNull();
    }

    private static boolean isState(JsonNode replay, String state) {
        return replay.path("state").asText().equals(state);
    }

    private int ask(JsonNode landing, String line) throws Exception {
        return call(
                        "POST",
                        of(landing) + "/ask",
                        JSON.createObjectNode().put("line", line).toString())
                .statusCode();
    }

    @Test
    void oneRunsAndTheNextWaits() throws Exception {
        JsonNode one = started("{}");
        JsonNode two = started("{}");
        JsonNode running = once(one, each -> !each.path("progress").isNull());
        assertTrue(isState(running, "running"), running::toString);
        String with = running.path("progress").asText();
        assertTrue(with.startsWith("started with replay --json --data=" + folder), with);
        assertTrue(isState(once(two, _ -> true), "waiting"));
        Files.createFile(folder.resolve("go"));
        JsonNode ended = once(one, ReplayControllerTest::isOver);
        assertEquals("DIVERGED", ended.path("report").path("verdict").asText(), ended::toString);
        assertEquals(1, ended.path("exitCode").asInt());
        assertEquals(1, once(two, ReplayControllerTest::isOver).path("exitCode").asInt());
        JsonNode all = JSON.readTree(call("GET", runs, null).body()).path("replays");
        assertEquals(2, all.size(), all::toString);
        assertEquals(two.path("replay"), all.path(0).path("replay"), "the newest first");
        assertEquals(409, call("DELETE", of(one), null).statusCode(), "it is over");
    }

    @Test
    void aLandingIsAskedAndLeft() throws Exception {
        JsonNode landing = started("{\"to\": \" 7 \"}");
        assertEquals("7", landing.path("to").asText());
        JsonNode landed = once(landing, each -> isState(each, "landed"));
        assertEquals(42, landed.path("place").path("instruction").asInt());
        assertEquals(202, ask(landing, "registers"));
        JsonNode answered = once(landing, each -> each.path("answers").size() == 1);
        assertEquals("registers", answered.path("answers").path(0).path("asked").asText());
        assertEquals(
                "registers",
                answered.path("answers").path(0).path("answer").path("said").asText());
        assertEquals(202, ask(landing, "next"));
        assertEquals(
                50,
                once(landing, each -> each.path("answers").size() == 2)
                        .path("place")
                        .path("instruction")
                        .asInt());
        assertEquals(202, ask(landing, "long"));
        JsonNode cut = once(landing, each -> each.path("answers").size() == 3);
        String instead =
                cut.path("answers").path(2).path("answer").path("error").asText();
        assertTrue(instead.startsWith("the answer has more than 1048576 octets"), instead);
        assertEquals(202, ask(landing, "slow"));
        assertEquals(409, ask(landing, "registers"), "it still answers");
        for (String wrong : List.of("", "  ", "a\nb", "x".repeat(201))) {
            assertEquals(400, ask(landing, wrong), wrong);
        }
        Files.createFile(folder.resolve("go"));
        once(landing, each -> each.path("pending").isNull());
        assertEquals(200, call("DELETE", of(landing), null).statusCode());
        JsonNode left = once(landing, ReplayControllerTest::isOver);
        assertTrue(isState(left, "ended"), left::toString);
        assertEquals(0, left.path("exitCode").asInt());
        assertEquals(409, ask(landing, "registers"), "it is over");
    }

    @Test
    void whatIsCancelledEnds() throws Exception {
        JsonNode running = started("{}");
        JsonNode waiting = started("{}");
        once(running, each -> !each.path("progress").isNull());
        assertEquals(200, call("DELETE", of(waiting), null).statusCode());
        assertTrue(isOver(once(waiting, each -> isState(each, "cancelled"))));
        assertEquals(200, call("DELETE", of(running), null).statusCode());
        JsonNode ended = once(running, ReplayControllerTest::isOver);
        assertTrue(isState(ended, "cancelled"), ended::toString);
        assertEquals(143, ended.path("exitCode").asInt());
        assertTrue(ended.path("progress").asText().startsWith("started with"), ended::toString);
        assertFalse(Files.readString(folder.resolve("pids")).strip().contains("\n"), "the other was never started");
    }

    @Test
    void aLandingThatStillAnswersIsBrokenOff() throws Exception {
        JsonNode landing = started("{\"to\": \"7\"}");
        once(landing, each -> isState(each, "landed"));
        assertEquals(202, ask(landing, "slow"));
        assertEquals(200, call("DELETE", of(landing), null).statusCode());
        assertEquals(
                143,
                once(landing, ReplayControllerTest::isOver).path("exitCode").asInt());
    }

    @Test
    void whatIsNoAnswerEndsALanding() throws Exception {
        JsonNode landing = started("{\"to\": \"7\"}");
        once(landing, each -> isState(each, "landed"));
        assertEquals(202, ask(landing, "garbage"));
        JsonNode ended = once(landing, ReplayControllerTest::isOver);
        assertTrue(ended.path("progress").asText().contains("it is not JSON"), ended::toString);
    }

    @Test
    void whatCannotBeStartedSaysWhy() throws Exception {
        for (String wrong : List.of("{\"to\": \"yesterday\"}", "{\"to\": 7}", "[]", "{", "{\"to\": \"--help\"}")) {
            assertEquals(400, call("POST", runs, wrong).statusCode(), wrong);
        }
        assertEquals(404, call("GET", runs + "/0", null).statusCode());
        for (int i = 0; i < 9; i++) {
            started("{}");
        }
        HttpResponse<String> full = call("POST", runs, "{}");
        assertEquals(503, full.statusCode(), full::body);
    }

    @Test
    void aServiceThatDoesNotKnowItsProgramStartsNone() throws Exception {
        server.close();
        service.close();
        serve(List.of());
        HttpResponse<String> none = call("POST", runs, "{}");
        assertEquals(409, none.statusCode(), none::body);
        assertTrue(none.body().contains("there is no program here"), none::body);
    }

    @Test
    void itIsAllInTheConsole() throws Exception {
        Files.createFile(folder.resolve("go"));
        JsonNode said = Npm.script("console.mjs", List.of("land", server.uri(), service.token(), run.run, PICTURES))
                .getFirst();
        assertEquals(List.of(), Npm.texts(said.path("errors")), said::toString);
        assertEquals(List.of(), Npm.texts(said.path("axe")), said::toString);
        assertEquals(List.of(), Npm.texts(said.path("axeDark")), said::toString);
        assertTrue(said.path("nowhere").asText().startsWith("Where to?"), said::toString);
        assertEquals("A command", said.path("focus").asText(), "it can be asked again at once");
        String landed = said.path("landed").asText();
        for (String expected : List.of("A landing at 7 is paused", "by owner", "instruction\t50", "said\tregisters")) {
            assertTrue(landed.contains(expected), landed);
        }
        assertTrue(said.path("ended").asText().contains("Exit 1."), said::toString);
    }

    @Test
    void whoStartedAndAskedIsSealedAndNothingIsLeftBehind() throws Exception {
        JsonNode landing = started("{\"to\": \"02:13:07\"}");
        once(landing, each -> isState(each, "landed"));
        assertEquals(202, ask(landing, "memory 7f00 16"));
        stop();
        for (String pid : Files.readAllLines(folder.resolve("pids"))) {
            assertTrue(
                    ProcessHandle.of(Long.parseLong(pid))
                            .filter(ProcessHandle::isAlive)
                            .isEmpty(),
                    pid);
        }
        var said = new ArrayList<@Nullable String>();
        AccessEntries.read(
                new LocalTrust(new DataFolder(folder.resolve("data"))).recordings(),
                (AccessEntry entry) -> said.add(entry.said()));
        String id = landing.path("replay").asText();
        assertTrue(said.contains("to 02:13:07 as " + id), said::toString);
        assertTrue(said.contains("memory 7f00 16"), said::toString);
    }
}
