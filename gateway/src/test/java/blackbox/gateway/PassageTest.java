package blackbox.gateway;

import static blackbox.gateway.Inspected.all;
import static blackbox.gateway.Inspected.head;
import static blackbox.gateway.Inspected.octets;
import static blackbox.gateway.Inspected.say;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.Decision.Stage;
import blackbox.gateway.egress.FlowEnd;
import blackbox.gateway.egress.HttpExchange.How;
import blackbox.gateway.egress.Inspection;
import blackbox.gateway.egress.Outcome;
import blackbox.gateway.egress.Passage;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.Ruling;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.stack.GuestNetwork;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a passage stops does not pass, whatever is spoken and however it is sent.
class PassageTest {
    /// Octets that wait in the gateway, which still reads the other side.
    private static final int LAST_WORDS = 30_000;

    private static final byte[] HELLO = "\0hello".getBytes(StandardCharsets.ISO_8859_1);

    @TempDir
    Path folder;

    /// So much may pass, in all.
    private static final class Limited implements Passage {
        final AtomicInteger over = new AtomicInteger();
        private final Hold hold;
        private final String wanted;
        private final StringBuilder read = new StringBuilder();
        private long begins;
        private long out;
        private long in;

        Limited(long begins, long out, long in) {
            this(begins, out, in, Hold.NOTHING, "");
        }

        /// @param wanted what a body must be of which something is held
        Limited(long begins, long out, long in, Hold hold, String wanted) {
            this.begins = begins;
            this.out = out;
            this.in = in;
            this.hold = hold;
            this.wanted = wanted;
        }

        private static @Nullable Ruling stopIf(boolean spent, String what) {
            return spent ? Ruling.budget(Verdict.spent("few", "no more " + what)) : null;
        }

        @Override
        public Hold holds() {
            return hold;
        }

        @Override
        public @Nullable Ruling begins() {
            return stopIf(begins-- <= 0, "requests");
        }

        @Override
        public @Nullable Ruling sends(long octets) {
            out -= octets;
            return stopIf(out < 0, "out");
        }

        @Override
        public @Nullable Ruling receives(long octets) {
            in -= octets;
            return stopIf(in < 0, "in");
        }

        @Override
        public @Nullable Ruling body(ByteBuffer piece) {
            read.append(StandardCharsets.ISO_8859_1.decode(piece));
            return null;
        }

        @Override
        public @Nullable Ruling whole() {
            Verdict denied = Verdict.deny("few", "not what is wanted");
            return read.toString().equals(wanted)
                    ? null
                    : new Ruling(denied, Stage.MCP, "tools/call rm", 200, "{\"jsonrpc\":\"2.0\"}");
        }

        @Override
        public void over() {
            over.incrementAndGet();
        }
    }

    private Inspected limited(Limited passage) throws Exception {
        return limited(passage, Duration.ofSeconds(30));
    }

    private Inspected limited(Limited passage, Duration headMax) throws Exception {
        return new Inspected(
                folder,
                Inspection.OPEN,
                head -> new RequestVerdict(Verdict.allow("few", "on the list"), head.target(), 403, passage),
                new InspectionSettings(Duration.ofSeconds(10), headMax));
    }

    private static String post(String body) {
        return "POST / HTTP/1.1\r\nHost: ok.local\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
    }

    private static void answer(Socket server, String body) throws IOException {
        say(server, "HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body);
    }

    /// How often it was told that it is over, once the loop has done what it was doing.
    private static int over(Inspected it, Limited passage) throws Exception {
        var unused = it.served.onLoop(GuestNetwork::bufferedOctets);
        return passage.over.get();
    }

    private static List<Decision> budgets(Inspected it) {
        return it.served.listener.decisions().stream()
                .filter(each -> each.outcome() == Outcome.BUDGET)
                .toList();
    }

    @Test
    void ofAHundredRequestsAtOnceExactlyTenPass() throws Exception {
        var passage = new Limited(10, Long.MAX_VALUE, Long.MAX_VALUE);
        try (var it = limited(passage);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var reached = new AtomicInteger();
            Thread.ofVirtual().start(() -> {
                while (true) {
                    try {
                        Socket server = it.server();
                        Thread.ofVirtual().start(() -> {
                            try {
                                head(server);
                                reached.incrementAndGet();
                                answer(server, "yes");
                            } catch (IOException | AssertionError _) {
                                return; // it was not asked
                            }
                        });
                    } catch (IOException | InterruptedException | AssertionError _) {
                        return; // all have come
                    }
                }
            });
            var guests = new ArrayList<Socket>();
            for (int i = 0; i < 100; i++) {
                guests.add(it.guest());
            }
            List<Future<String>> answers = guests.stream()
                    .map(guest -> threads.submit(() -> {
                        say(guest, "GET / HTTP/1.1\r\nHost: ok.local\r\nConnection: close\r\n\r\n");
                        return all(guest);
                    }))
                    .toList();
            int passed = 0;
            for (Future<String> each : answers) {
                String text = each.get();
                passed += text.startsWith("HTTP/1.1 200 OK") ? 1 : 0;
                assertTrue(
                        text.startsWith("HTTP/1.1 200 OK")
                                || text.startsWith("HTTP/1.1 429 Too Many Requests")
                                        && text.contains("\"rule\":\"few\"")
                                        && text.contains("no more requests"),
                        text);
            }
            assertEquals(10, passed);
            assertEquals(10, reached.get());
            assertEquals(90, budgets(it).size());
            assertEquals(
                    100,
                    it.exchanges(100).stream().filter(each -> each.status() > 0).count());
            assertEquals(100, over(it, passage), "each that has begun, stopped or not");
        }
    }

    @Test
    void whatIsPipelinedIsAskedOneByOne() throws Exception {
        for (int count : List.of(3, 20)) {
            try (var it = limited(new Limited(2, Long.MAX_VALUE, Long.MAX_VALUE))) {
                Socket guest = it.guest();
                say(guest, post("1").repeat(count));
                Socket server = it.server();
                for (int i = 0; i < 2; i++) {
                    head(server);
                    assertEquals("1", octets(server, 1));
                    answer(server, "a");
                }
                assertEquals(-1, server.getInputStream().read());
                assertEquals(How.REFUSED, it.exchanges(3).getLast().how());
                if (count == 3) { // of more, the rest is not read
                    String answers = all(guest);
                    assertEquals(4, answers.split("HTTP/1.1 ", -1).length, answers);
                    assertTrue(answers.contains("HTTP/1.1 429 "), answers);
                }
            }
        }
    }

    @Test
    void anUploadBeyondItsLimitNeverBecomesWhole() throws Exception {
        var passage = new Limited(9, 500, Long.MAX_VALUE);
        try (var it = limited(passage)) {
            Socket guest = it.guest();
            say(guest, "POST / HTTP/1.1\r\nHost: ok.local\r\nTransfer-Encoding: chunked\r\n\r\n");
            Socket server = it.server();
            head(server);
            String chunk = "64\r\n" + "x".repeat(100) + "\r\n";
            for (int i = 0; i < 9; i++) {
                say(guest, chunk);
            }
            String answer = all(guest);
            assertTrue(answer.startsWith("HTTP/1.1 429 "), answer);
            String arrived = all(server);
            assertTrue(arrived.length() < 500 && !arrived.contains("0\r\n\r\n"), arrived);
            var exchange = it.exchanges(1).getFirst();
            assertEquals(How.REFUSED, exchange.how());
            assertTrue(exchange.request().octets() <= 400, exchange::toString);
            assertEquals("POST ok.local /", budgets(it).getFirst().what());
            assertEquals(1, over(it, passage));
        }
    }

    @Test
    void headsAndTrailersCount() throws Exception {
        try (var it = limited(new Limited(9, 300, Long.MAX_VALUE))) {
            Socket guest = it.guest();
            say(guest, "GET /" + "a".repeat(400) + " HTTP/1.1\r\nHost: ok.local\r\n\r\n");
            Socket server = it.server();
            assertTrue(all(guest).startsWith("HTTP/1.1 429 "));
            assertEquals("", all(server));
        }
        try (var it = limited(new Limited(9, 300, Long.MAX_VALUE))) {
            Socket guest = it.guest();
            String trailer = "X: " + "a".repeat(400);
            say(
                    guest,
                    "POST / HTTP/1.1\r\nHost: ok.local\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + trailer
                            + "\r\n\r\n");
            Socket server = it.server();
            assertTrue(all(guest).startsWith("HTTP/1.1 429 "));
            assertTrue(!all(server).contains("aaa"));
        }
    }

    @Test
    void aFloodOfAnswersIsCut() throws Exception {
        var passage = new Limited(9, Long.MAX_VALUE, 100_000);
        try (var it = limited(passage)) {
            Socket guest = it.guest();
            say(guest, post("1"));
            Socket server = it.server();
            head(server);
            say(server, "HTTP/1.1 200 OK\r\n\r\n");
            assertThrows(IOException.class, () -> {
                while (true) {
                    say(server, "y".repeat(10_000));
                }
            });
            String got = all(guest);
            assertTrue(got.length() < 110_000 && !got.endsWith("0\r\n\r\n"), "it has no end");
            assertEquals(How.CUT, it.exchanges(1).getFirst().how());
            assertTrue(it.exchanges(1).getFirst().response().octets() <= 100_000);
            assertEquals(1, budgets(it).size());
            assertEquals(1, over(it, passage));
        }
    }

    @Test
    void interimAnswersCount() throws Exception {
        try (var it = limited(new Limited(9, Long.MAX_VALUE, 10_000))) {
            Socket guest = it.guest();
            say(guest, post("1"));
            Socket server = it.server();
            head(server);
            assertThrows(IOException.class, () -> {
                while (true) {
                    say(server, "HTTP/1.1 103 Early Hints\r\nLink: <" + "z".repeat(900) + ">\r\n\r\n");
                }
            });
            String got = all(guest);
            assertTrue(got.length() < 11_000 && got.contains("HTTP/1.1 429 "), "the guest is told");
        }
    }

    @Test
    void anAbortedUploadEndsItsPassage() throws Exception {
        var passage = new Limited(9, Long.MAX_VALUE, Long.MAX_VALUE, Passage.Hold.ALL, "");
        try (var it = limited(passage)) {
            Socket guest = it.guest();
            say(guest, "POST / HTTP/1.1\r\nHost: ok.local\r\nContent-Length: 50000\r\n\r\n" + "x".repeat(40_000));
            Socket server = it.server();
            it.served.listener.await(
                    "it is not judged",
                    listener -> listener.decisions().stream().anyMatch(each -> each.stage() == Stage.HTTP));
            guest.setSoLinger(true, 0);
            guest.close();
            assertEquals("", all(server), "nothing of it left");
            it.exchanges(1);
            assertEquals(1, over(it, passage));
            it.served.listener.await("it is open", listener -> !listener.ends().isEmpty());
            long held = it.served.onLoop(GuestNetwork::bufferedOctets);
            assertEquals(0, held);
        }
    }

    @Test
    void ofABodyThatIsHeldNothingLeavesBeforeItIsJudged() throws Exception {
        var passage = new Limited(9, Long.MAX_VALUE, Long.MAX_VALUE, Passage.Hold.ALL, "good");
        try (var it = limited(passage)) {
            Socket guest = it.guest();
            say(guest, "POST / HTTP/1.1\r\nHost: ok.local\r\nTransfer-Encoding: chunked\r\n\r\n2\r\ngo\r\n");
            Socket server = it.server();
            say(guest, "2\r\nod\r\n0\r\nX-Sum: 4\r\n\r\n");
            String head = head(server);
            assertTrue(head.startsWith("POST / HTTP/1.1"), head);
            assertEquals("4\r\ngood\r\n0\r\nX-Sum: 4\r\n\r\n", octets(server, 24));
            answer(server, "yes");
            assertTrue(head(guest).startsWith("HTTP/1.1 200 OK"));
            assertEquals("yes", octets(guest, 3));
            say(guest, post("bad"));
            String refused = all(guest);
            assertTrue(refused.startsWith("HTTP/1.1 200 "), refused);
            assertTrue(refused.endsWith("{\"jsonrpc\":\"2.0\"}"), refused);
            assertEquals(-1, server.getInputStream().read(), "nothing of it left");
            Decision decision = it.served.listener.decisions().getLast();
            assertEquals("MCP DENY tools/call rm", decision.stage() + " " + decision.outcome() + " " + decision.what());
            assertEquals(How.REFUSED, it.exchanges(2).getLast().how());
        }
    }

    @Test
    void aRequestWithoutABodyIsJudgedToo() throws Exception {
        try (var it = limited(new Limited(9, Long.MAX_VALUE, Long.MAX_VALUE, Passage.Hold.END, "good"))) {
            Socket guest = it.guest();
            say(guest, "GET / HTTP/1.1\r\nHost: ok.local\r\n\r\n");
            it.server();
            assertTrue(all(guest).endsWith("{\"jsonrpc\":\"2.0\"}"));
        }
    }

    @Test
    void ofABodyWhoseEndIsHeldTheRestLeaves() throws Exception {
        try (var it = limited(new Limited(9, Long.MAX_VALUE, Long.MAX_VALUE, Passage.Hold.END, "good"))) {
            Socket guest = it.guest();
            say(guest, "POST / HTTP/1.1\r\nHost: ok.local\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nba\r\n");
            Socket server = it.server();
            head(server);
            say(guest, "1\r\nd\r\n");
            assertEquals("2\r\nba\r\n", octets(server, 7));
            say(guest, "0\r\n\r\n");
            assertTrue(all(guest).endsWith("{\"jsonrpc\":\"2.0\"}"));
            assertEquals("", all(server), "it never had an end");
        }
    }

    /// As long as a stream that the server sends may take.
    @Test
    void aBodyThatIsHeldMustComeInTimeAndTheAnswerNeedNot() throws Exception {
        var passage = new Limited(9, Long.MAX_VALUE, Long.MAX_VALUE, Passage.Hold.ALL, "");
        try (var it = limited(passage, Duration.ofMillis(300))) {
            Socket stream = it.guest();
            say(stream, "GET / HTTP/1.1\r\nHost: ok.local\r\n\r\n");
            Socket server = it.server();
            head(server);
            Socket slow = it.guest();
            say(slow, "POST / HTTP/1.1\r\nHost: ok.local\r\nContent-Length: 2\r\n\r\nx");
            Socket unasked = it.server();
            assertTrue(all(slow).startsWith("HTTP/1.1 408 "), "it has been longer than the head may take");
            assertEquals("", all(unasked));
            answer(server, "late");
            assertTrue(head(stream).startsWith("HTTP/1.1 200 OK"));
        }
    }

    @Test
    void aBodyThatIsHeldHasABound() throws Exception {
        try (var it = limited(new Limited(9, Long.MAX_VALUE, Long.MAX_VALUE, Passage.Hold.ALL, "good"))) {
            Socket guest = it.guest();
            say(guest, post("x".repeat(Passage.HELD_BYTES_MAX + 1)));
            Socket server = it.server();
            assertTrue(all(guest).startsWith("HTTP/1.1 403 "));
            assertEquals("", all(server));
            Decision decision = it.served.listener.decisions().getLast();
            assertTrue(decision.reason().startsWith("its body must be read whole"), decision::toString);
            long most = it.served.onLoop(GuestNetwork::mostBufferedOctets);
            assertTrue(most < 2 * Passage.HELD_BYTES_MAX, () -> "held " + most);
        }
    }

    @Test
    void connectionsOfOtherThingsAreCut() throws Exception {
        for (Inspection how : List.of(Inspection.OPEN, Inspection.SEALED)) {
            var passage = new Limited(1, 10, 10);
            try (var it = new Inspected(folder, how)) {
                it.streams = () -> passage;
                TestConnection guest = it.connection();
                guest.send(HELLO);
                Socket server = it.server();
                assertEquals("\0hello", octets(server, 6));
                say(server, "\0hello");
                guest.awaitReceived(6);
                guest.send(HELLO);
                guest.awaitReset();
                assertThrows(SocketException.class, () -> all(server), "it is reset");
                Decision decision = budgets(it).getFirst();
                assertEquals("FLOW no more out", decision.stage() + " " + decision.reason());
                it.served.listener.await("no end", listener -> listener.ends().size() == 1);
                assertEquals(
                        FlowEnd.How.RESET, it.served.listener.ends().getFirst().how());
                assertEquals(1, over(it, passage));
                if (how == Inspection.SEALED) {
                    it.notAccepted();
                } else {
                    TestConnection second = it.connection();
                    second.send(HELLO);
                    second.awaitReset();
                }
                assertEquals("no more requests", budgets(it).getLast().reason());
            }
        }
    }

    @Test
    void aWebSocketIsCut() throws Exception {
        var passage = new Limited(1, 1_000, 1_000);
        try (var it = limited(passage)) {
            Socket guest = it.guest();
            say(guest, HttpTest.webSocket());
            Socket server = it.server();
            String key = HttpTest.valueOf("Sec-WebSocket-Key", head(server));
            say(
                    server,
                    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                            + "Sec-WebSocket-Accept: " + HttpTest.accept(key) + "\r\n\r\n");
            head(guest);
            assertEquals(0, over(it, passage), "it goes on");
            say(server, "w".repeat(2_000));
            assertThrows(SocketException.class, () -> all(guest), "it is reset");
            assertEquals(Stage.WS, budgets(it).getFirst().stage());
            it.served.listener.await("no end", listener -> listener.ends().size() == 1);
            assertEquals(1, over(it, passage));
        }
    }

    /// What a guest still says when the server has ended goes nowhere, and is no reason to cut what it is still sent.
    @Test
    void aServersLastWordsArriveWhileTheGuestTalks() throws Exception {
        try (var it = new Inspected(folder, Inspection.OPEN)) {
            TestConnection guest = it.connection();
            guest.send(HttpTest.webSocket().getBytes(StandardCharsets.ISO_8859_1));
            Socket server = it.server();
            String key = HttpTest.valueOf("Sec-WebSocket-Key", head(server));
            say(
                    server,
                    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                            + "Sec-WebSocket-Accept: " + HttpTest.accept(key) + "\r\n\r\n");
            String opened = "";
            while (!opened.endsWith("\r\n\r\n")) {
                guest.awaitReceived(opened.length() + 1);
                opened = new String(guest.received(), StandardCharsets.ISO_8859_1);
            }
            guest.take(0, 0);
            guest.send(new byte[] {'a'}); // which says that it takes nothing
            assertEquals("a", octets(server, 1));
            say(server, "z".repeat(LAST_WORDS));
            server.shutdownOutput();
            assertEquals(-1, server.getInputStream().read(), "the gateway has heard that it has ended");
            guest.send(new byte[] {'b'});
            assertTrue(guest.awaitTaken());
            var unused = it.served.onLoop(GuestNetwork::bufferedOctets);
            guest.takeAll();
            guest.awaitReceived(opened.length() + LAST_WORDS);
            guest.awaitFinished();
        }
    }
}
