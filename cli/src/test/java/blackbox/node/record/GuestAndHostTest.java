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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a guest's kernel tells of its network, against what leaves it: of ordinary clients both are the same, and each
/// lie of a guest whose root sends frames of its own is found.
class GuestAndHostTest {

    private static final String CLIENTS = """
            exec 2>&1
            curl -sS https://api.example/curl; echo
            curl -sS https://api.example/a https://api.example/b | wc -c
            git ls-remote https://api.example/repository > /dev/null 2>&1; echo git was answered
            python3 - <<'PYTHON'
            import concurrent.futures, socket, urllib.request
            def get(number):
                with urllib.request.urlopen('https://api.example/p%d' % number) as page:
                    return len(page.read())
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                print(sum(pool.map(get, range(24))))
            def refused(address):
                try:
                    socket.create_connection(address, timeout=30).close()
                except OSError as failure:
                    print(type(failure).__name__)
            refused(('192.0.2.1', 80))
            refused(('api.example', 81))
            refused(('denied.example', 443))
            blocking = socket.socket()
            blocking.connect((socket.gethostbyname('api.example'), 443))
            blocking.close()
            short = socket.socket(socket.AF_INET6)
            short.setblocking(False)
            short.connect_ex(('::ffff:' + socket.gethostbyname('api.example'), 443))
            short.close()
            same = socket.create_server(('127.0.0.1', 0))
            socket.create_connection(same.getsockname()).close()
            PYTHON
            echo | openssl s_client -connect api.example:443 -servername api.example 2> /dev/null | grep -c 'BEGIN CERT'
            """;

    private static final String LIES = """
            import socket, ssl, struct, sys, time

            OWN, FORGED, RESOLVER = '10.0.2.15', '10.0.2.99', '10.0.2.3'
            device = open('/proc/net/route').read().splitlines()[1].split()[0]
            wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
            wire.bind((device, 0x0800))
            wire.settimeout(20)
            ETHERNET = bytes.fromhex('52550a000202') + wire.getsockname()[4] + b'\\x08\\x00'

            def checksum(octets):
                octets += b'\\0' * (len(octets) % 2)
                total = sum(struct.unpack('!%dH' % (len(octets) // 2), octets))
                while total >> 16:
                    total = (total & 0xffff) + (total >> 16)
                return ~total & 0xffff

            def send(source, to, protocol, payload, at):
                source, to = socket.inet_aton(source), socket.inet_aton(to)
                pseudo = source + to + struct.pack('!BBH', 0, protocol, len(payload))
                payload = payload[:at] + struct.pack('!H', checksum(pseudo + payload)) + payload[at + 2:]
                head = struct.pack('!BBHHHBBH', 0x45, 0, 20 + len(payload), 7, 0x4000, 64, protocol, 0) + source + to
                head = head[:10] + struct.pack('!H', checksum(head)) + head[12:]
                wire.send(ETHERNET + head + payload)

            def syn(source, to, port, own):
                send(source, to, 6, struct.pack('!HHIIBBHHH', own, port, 99, 0, 0x50, 2, 65535, 0, 0), 16)

            def ask(name, own):
                labels = b''.join(bytes([len(each)]) + each.encode() for each in name.split('.'))
                question = struct.pack('!6H', 0x4242, 0x100, 1, 0, 0, 0) + labels + b'\\0\\0\\1\\0\\1'
                send(OWN, RESOLVER, 17, struct.pack('!4H', own, 53, 8 + len(question), 0) + question, 6)
                while True:
                    frame = wire.recv(2000)
                    if frame[23] == 17 and frame[34:38] == struct.pack('!2H', 53, own):
                        return socket.inet_ntoa(frame[-4:])

            address = socket.gethostbyname('api.example')
            syn(OWN, address, 443, 3001)
            syn(FORGED, address, 443, 3002)
            hidden = ask('hidden.example', 3003)
            socket.create_connection((hidden, 443), timeout=30).close()
            try:
                socket.create_connection(('198.18.200.200', 80), timeout=30)
            except OSError as failure:
                print(type(failure).__name__)
            trusting = ssl.create_default_context()
            trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
            try:
                trusting.wrap_socket(socket.create_connection((address, 443), timeout=30), server_hostname='other.example')
            except OSError as failure:
                print(type(failure).__name__)
            nowhere = socket.socket()
            nowhere.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b'lo')
            nowhere.bind((OWN, 3004))
            nowhere.setblocking(False)
            nowhere.connect_ex((address, 443))
            time.sleep(float(sys.argv[1]))
            print('done', flush=True)
            """;

    @TempDir
    static Path folder;

    private static Installation blackbox;
    private static HttpsUpstream web;
    private static final List<String> REACHED = new CopyOnWriteArrayList<>();

    @BeforeAll
    static void serve() throws Exception {
        blackbox = Installation.in(folder);
        web = HttpsUpstream.start(folder, "api.example", GuestAndHostTest::answer);
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

    private static Path policy(String more) throws IOException {
        return Files.writeString(folder.resolve("policy.yaml"), """
                version: 1
                %s
                rules:
                  - {id: api, host: api.example, upstream: "127.0.0.1:%2$d"}
                  - {id: hidden, host: hidden.example, upstream: "127.0.0.1:%2$d"}
                """.formatted(more, web.port()));
    }

    private static Ended record(String tier, Path policy, String user, String... command) throws Exception {
        return record(tier, policy, List.of("--user", user), command);
    }

    private static Ended record(String tier, Path policy, List<String> options, String... command) throws Exception {
        var words = new ArrayList<>(List.of("record", "--json", "--tier", tier, "--policy", policy.toString()));
        words.addAll(options);
        words.addAll(List.of("--upstream-ca", web.certificate().toString(), "--"));
        words.addAll(List.of(command));
        return blackbox.run(words.toArray(String[]::new)).expect(0);
    }

    private static JsonNode sides(String run) throws Exception {
        JsonNode touched =
                blackbox.run("touched", run, "--egress", "--json").expect(0).json();
        for (JsonNode limit : touched.path("limits")) {
            assertFalse(limit.asText().contains("does not follow from its events"), limit::asText);
        }
        return touched.path("guestAndHost");
    }

    @Test
    void ofOrdinaryClientsEverythingIsToldByBoth() throws Exception {
        Ended ended = record("live", policy(""), "agent", "sh", "-c", CLIENTS);

        assertTrue(ended.out().startsWith("served /curl\n18\ngit was answered\n"), ended::out);
        String run = ended.recorded().path("run").asText();
        blackbox.verifyComplete(run);
        JsonNode sides = sides(run);
        assertTrue(sides.path("compared").asBoolean());
        assertEquals(0, sides.path("findings").size(), sides::toString);
        long decided = 0;
        for (JsonNode each : blackbox.events(run, "egress.decision")) {
            decided += each.path("protocol").asText().equals("tcp")
                            && each.path("detail").path("stage").asText().equals("connect")
                    ? 1
                    : 0;
        }
        long begun = 0;
        for (JsonNode each : blackbox.events(run, "net.syn")) {
            begun += each.path("local").path("ip").asText().endsWith("10.0.2.15") ? 1 : 0;
        }
        assertTrue(decided > 30, "connections: " + decided);
        assertEquals(decided, begun);
        assertEquals(decided, sides.path("connections").asLong());
        assertTrue(sides.path("datagrams").asLong() > 2, sides::toString);
    }

    @Test
    void eachLieIsFound() throws Exception {
        Ended ended = record("live", policy(""), "root", "python3", "-c", LIES, "4");

        assertTrue(ended.out().endsWith("done\n"), ended::out);
        String run = ended.recorded().path("run").asText();
        blackbox.verifyComplete(run);
        Set<String> found = new TreeSet<>();
        for (JsonNode each : sides(run).path("findings")) {
            assertTrue(each.path("unknown").isNull(), each::toString);
            found.add(each.path("finding").asText() + " "
                    + each.path("protocol").asText() + " "
                    + each.path("local").asText().replaceAll(":[0-9]{5}$", "") + " "
                    + each.path("host").asText("-") + " " + each.path("said").asText("-")
                    + (each.path("guestEvent").isNull() ? "" : " guest")
                    + (each.path("hostEvent").isNull() ? "" : " host"));
        }
        assertEquals(
                new TreeSet<>(List.of(
                        "FLOW_WITHOUT_CONNECT tcp 10.0.2.15:3001 api.example - host",
                        "SOURCE_FORGED tcp 10.0.2.99:3002 - - host",
                        "FLOW_WITHOUT_CONNECT udp 10.0.2.15:3003 hidden.example - host",
                        "NAME_NOT_ASKED tcp 10.0.2.15 hidden.example - guest host",
                        "NAME_NOT_ASKED tcp 10.0.2.15 - - guest host",
                        "SNI_NOT_ADDRESS tcp 10.0.2.15 api.example other.example guest host",
                        "CONNECT_WITHOUT_FLOW tcp 10.0.2.15:3004 - - guest")),
                found);
        assertTheFindingsAreSealed(run, found.size());
        Ended text = blackbox.run("touched", run, "--egress").expect(0);
        assertTrue(text.out().contains("SNI_NOT_ADDRESS tcp 10.0.2.15:"), text::out);
    }

    private static void assertTheFindingsAreSealed(String run, int count) throws Exception {
        int sealed = 0;
        for (JsonNode each : blackbox.events(run, "recorder.finding")) {
            sealed += each.path("detail").has("remote") ? 1 : 0;
        }
        assertEquals(count, sealed);
    }

    @Test
    void heldConnectionsNeedTheGuestsWord() throws Exception {
        REACHED.clear();
        String clients = """
                curl -sS https://api.example/held && echo
                echo | openssl s_client -connect api.example:443 -servername api.example 2> /dev/null | grep -c 'BEGIN CERT'
                exec python3 -c "$LIES" 2
                """;
        Ended ended = record(
                "exact",
                policy("hold: connect"),
                List.of("--user", "root", "--hold-max", "1000"),
                "sh",
                "-c",
                "LIES=$(cat <<'LIES'\n" + LIES + "\nLIES\n)\n" + clients);

        assertTrue(ended.out().startsWith("served /held\n1\n"), ended::out);
        String run = ended.recorded().path("run").asText();
        blackbox.verifyComplete(run);
        var refused = new ArrayList<String>();
        for (JsonNode each : blackbox.events(run, "egress.decision")) {
            if (each.path("detail").path("rule").asText().equals("builtin:unconfirmed")) {
                assertEquals("deny", each.path("what").asText());
                refused.add(each.path("local").path("port").asText());
            }
        }
        assertEquals(List.of("3001"), refused);
        assertEquals(List.of("/held"), REACHED);
        JsonNode replayed = blackbox.run("replay", run, "--json").expect(0).json();
        assertEquals("IDENTICAL", replayed.path("verdict").asText(), replayed::toString);
    }
}
