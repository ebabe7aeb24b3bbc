package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Rules for one program in a VM: its connections are told from those of others by what the guest's kernel
/// executed, not by a name that somebody gives it.
class ProgramRulesTest {

    private static final String AGENT = """
            exec 2>&1
            get='import sys, urllib.error, urllib.request
            data = b"x" if sys.argv[2:] else None
            try:
                print(urllib.request.urlopen(sys.argv[1], data, 60).read().decode())
            except urllib.error.HTTPError as refused:
                print(refused.code)
            except OSError as failure:
                print(type(failure).__name__)'
            python=$(readlink -f /usr/bin/python3)
            curl -sS https://api.example/curl; echo
            ln -s /usr/bin/curl /tmp/link; /tmp/link -sS https://api.example/link; echo
            python3 -c "$get" https://api.example/python
            python3 -c "$get" https://api.example/open post
            python3 -c "$get" https://only.example/python
            bash -c 'exec -a /usr/bin/curl python3 -c "$1" https://only.example/name' - "$get"
            cp /usr/bin/curl /tmp/curl; /tmp/curl -sS https://only.example/copy > /dev/null 2>&1; echo copy $?
            unshare -rm sh -c 'mount --bind "$1" /usr/bin/curl && exec /usr/bin/curl -c "$2" https://only.example/mount' \\
                - "$python" "$get"
            """;

    @TempDir
    static Path folder;

    private static Installation blackbox;
    private static HttpsUpstream web;
    private static final List<String> REACHED = new CopyOnWriteArrayList<>();

    @BeforeAll
    static void serve() throws Exception {
        blackbox = Installation.in(folder);
        web = HttpsUpstream.start(folder, "api.example", ProgramRulesTest::answer);
    }

    @AfterAll
    static void close() {
        web.close();
    }

    private static void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            REACHED.add(path);
            byte[] octets = ("served " + path).getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(200, octets.length);
            exchange.getResponseBody().write(octets);
        }
    }

    private static Path policy() throws IOException {
        return Files.writeString(folder.resolve("policy.yaml"), """
                version: 1
                rules:
                  - {id: get, host: api.example, methods: [GET], process: {exe: /usr/bin/curl}, upstream: "127.0.0.1:%1$d"}
                  - {id: post, host: api.example, methods: [POST], paths: [/open], upstream: "127.0.0.1:%1$d"}
                  - {id: only, host: only.example, process: {exe: /usr/bin/curl}, upstream: "127.0.0.1:%1$d"}
                """.formatted(web.port()));
    }

    @Test
    void whatTheKernelExecutedIsTheProgram() throws Exception {
        Path policy = policy();
        Ended ended = blackbox.run(
                        "record",
                        "--json",
                        "--tier",
                        "live",
                        "--policy",
                        policy.toString(),
                        "--upstream-ca",
                        web.certificate().toString(),
                        "--",
                        "sh",
                        "-c",
                        AGENT)
                .expect(0);

        assertEquals("""
                served /curl
                served /link
                403
                served /open
                URLError
                URLError
                copy 7
                URLError
                """, ended.out());
        assertEquals(List.of("/curl", "/link", "/open"), REACHED);
        String run = ended.recorded().path("run").asText();
        blackbox.verifyComplete(run);
        assertEachDecisionNamesTheProgram(run);
        blackbox.run("egress", "check", policy.toString(), run).expect(0);
    }

    private static void assertEachDecisionNamesTheProgram(String run) throws Exception {
        Set<String> refused = new TreeSet<>();
        var allowed = new ArrayList<String>();
        for (JsonNode each : blackbox.events(run, "egress.decision")) {
            JsonNode detail = each.path("detail");
            if (detail.path("stage").asText().equals("connect")) {
                String exe = detail.path("exe").asText("-").replaceAll("python3\\..*", "python3");
                if (each.path("what").asText().equals("allow")) {
                    allowed.add(exe);
                } else {
                    assertTrue(
                            detail.path("reason")
                                    .asText()
                                    .startsWith("rule only allows only.example only for /usr/bin/curl, not "),
                            detail::toString);
                    refused.add(exe);
                }
            }
        }
        assertEquals(List.of("/usr/bin/curl", "/usr/bin/curl", "/usr/bin/python3", "/usr/bin/python3"), allowed);
        assertEquals(Set.of("/usr/bin/python3", "/tmp/curl"), refused);
    }
}
