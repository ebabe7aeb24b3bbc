package blackbox.replay.cassette;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.packet.IcmpMessage;
import blackbox.gateway.packet.IpPacket;
import blackbox.gateway.packet.TcpSegment;
import blackbox.gateway.packet.UdpDatagram;
import blackbox.replay.cassette.Miss.Kind;
import blackbox.replay.cassette.Recording.Turn;
import blackbox.replay.request.Difference;
import blackbox.schemas.Hash;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.net.Octets;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CassettePeerTest {
    private static final int SEEDS = 150;
    private static final byte[] EMPTY = {};

    private final Random random = new Random(1);
    private final Recording recording = new Recording(random);

    private static Turn asks(String octets) {
        return new Turn(true, octets.getBytes(US_ASCII));
    }

    private static Turn answers(String octets) {
        return new Turn(false, octets.getBytes(US_ASCII));
    }

    private TestGuest guest() throws Exception {
        return new TestGuest(recording.cassette(), random, 0);
    }

    /// Conversations of random length in random segments, early, twice and overlapping in the recording; then
    /// played over a link that loses, repeats and swaps one frame in ten.
    @Test
    void theGuestReceivesWhatWasRecorded() throws Exception {
        for (int seed = 0; seed < SEEDS; seed++) {
            var seeded = new Random(seed);
            var recorded = new Recording(seeded);
            int count = 1 + seeded.nextInt(4);
            var all = new ArrayList<List<Turn>>();
            for (int i = 0; i < count; i++) {
                all.add(conversation(seeded));
                recorded.connection(40_000 + i, 80, all.getLast());
            }
            var guest = new TestGuest(recorded.cassette(), seeded, 10);
            var connections = new ArrayList<TestGuest.Connection>();
            for (int i = 0; i < count; i++) {
                connections.add(guest.open(50_000 + i, 80, all.get(i)));
            }
            guest.settle();
            String where = "seed " + seed;
            assertEquals(List.of(), guest.misses, where);
            for (int i = 0; i < count; i++) {
                assertArrayEquals(heard(all.get(i)), connections.get(i).heard.toByteArray(), where);
                assertTrue(connections.get(i).remoteFinished, where);
            }
            assertEquals(count, guest.peer().played().connections(), where);
            assertEquals(0, guest.peer().played().unusedConnections(), where);
        }
    }

    /// A conversation whose first request is unlike any other, as requests mostly are.
    private static List<Turn> conversation(Random random) {
        var turns = new ArrayList<Turn>();
        int count = 2 + 2 * random.nextInt(4);
        for (int i = 0; i < count; i++) {
            var octets = new byte[8 + random.nextInt(i % 2 == 0 ? 3_000 : 60_000)];
            random.nextBytes(octets);
            turns.add(new Turn(i % 2 == 0, octets));
        }
        return turns;
    }

    private static byte[] heard(List<Turn> turns) {
        var all = new ByteArrayOutputStream();
        turns.stream().filter(turn -> !turn.guest()).forEach(turn -> all.writeBytes(turn.octets()));
        return all.toByteArray();
    }

    @Test
    void anAnswerWaitsForItsRequest() throws Exception {
        recording.connection(
                40_000, 80, List.of(asks("first?"), answers("first."), asks("second?"), answers("second.")));
        TestGuest guest = guest();
        var connection = guest.open(50_000, 80, List.of(asks("first?"), answers("first."), answers("never")));
        guest.settle();
        assertEquals("first.", connection.heard.toString(US_ASCII));
        assertFalse(connection.remoteFinished);
        assertEquals(List.of(), guest.misses);
    }

    @Test
    void aServerThatSpeaksFirstIsHeardFirst() throws Exception {
        var turns = List.of(answers("220 hello"), asks("QUIT"), answers("221 bye"));
        recording.connection(40_000, 25, turns);
        TestGuest guest = guest();
        var connection = guest.open(50_000, 25, turns);
        guest.settle();
        assertEquals("220 hello221 bye", connection.heard.toString(US_ASCII));
    }

    @Test
    void connectionsAreMatchedByWhatTheyAsk() throws Exception {
        recording.connection(40_000, 80, List.of(asks("GET /a"), answers("a")));
        recording.connection(40_001, 80, List.of(asks("GET /b"), answers("b")));
        TestGuest guest = guest();
        var second = guest.open(50_000, 80, List.of(asks("GET /b"), answers("b")));
        var first = guest.open(50_001, 80, List.of(asks("GET /a"), answers("a")));
        guest.settle();
        assertEquals("a", first.heard.toString(US_ASCII));
        assertEquals("b", second.heard.toString(US_ASCII));
        assertEquals(List.of(), guest.misses);
    }

    @Test
    void aDifferentRequestIsRefusedAndReported() throws Exception {
        recording.connection(40_000, 80, List.of(asks("GET /a HTTP/1.0"), answers("a")));
        TestGuest guest = guest();
        var connection = guest.open(50_000, 80, List.of(asks("GET /c HTTP/1.0"), answers("a")));
        guest.settle();
        assertTrue(connection.reset);
        assertEquals("", connection.heard.toString(US_ASCII));
        Miss miss = guest.misses.getFirst();
        assertEquals(Kind.REQUEST, miss.kind());
        assertEquals(5, Objects.requireNonNull(miss.difference()).at());
        var expected = new Miss.Content(Hash.sha256("GET /a HTTP/1.0".getBytes(US_ASCII)), 15);
        assertEquals(expected, miss.expected());
        assertEquals(1, guest.misses.size());
        assertTrue(
                miss.json().startsWith("{\"protocol\":\"tcp\",\"remote\":{\"ip\":\"10.0.2.2\",\"port\":80},"),
                miss::json);
        assertTrue(miss.json().endsWith(",\"firstDifference\":5}"), miss::json);
        assertEquals(new Difference(5, 0, "GET /a HTTP/1.0", "GET /c HTTP/1.0"), miss.difference());
    }

    /// However the request is cut into pieces, the octets before the difference are shown, and nothing of a secret
    /// that comes long before it.
    @Test
    void aDifferenceIsShownWithWhatIsBeforeIt() throws Exception {
        String head = "POST /v1 HTTP/1.1\r\nAuthorization: Bearer s3cr3t\r\n" + "x".repeat(300);
        recording.connection(40_000, 80, List.of(asks(head + "id=1111" + "y".repeat(500)), answers("a")));
        for (int piece : new int[] {1, 7, 39, 40, 41, 1_000}) {
            TestGuest guest = guest();
            String sent = head + "id=1121" + "z".repeat(500);
            var steps = new ArrayList<Turn>();
            for (int at = 0; at < sent.length(); at += piece) {
                steps.add(asks(sent.substring(at, Math.min(sent.length(), at + piece))));
            }
            var unused = guest.open(50_000, 80, steps);
            guest.settle();
            Difference difference =
                    Objects.requireNonNull(guest.misses.getFirst().difference());
            assertEquals(head.length() + 5, difference.at());
            assertEquals(head.length() + 5 - 40, difference.from());
            assertEquals("x".repeat(35) + "id=1111" + "y".repeat(158), difference.recorded());
            assertTrue(difference.replayed().startsWith("x".repeat(35) + "id=112"), difference::toString);
            assertTrue(difference.replayed().length() <= 200, difference::toString);
            assertFalse(guest.misses.getFirst().json().contains("id="), "octets are in no event");
        }
    }

    @Test
    void moreThanWasRecordedIsRefused() throws Exception {
        var turns = List.of(asks("GET /a"), answers("a"));
        recording.connection(40_000, 80, turns);
        TestGuest guest = guest();
        guest.open(50_000, 80, turns);
        guest.settle();
        var again = guest.open(50_001, 80, turns);
        guest.settle();
        assertTrue(again.reset && !again.opened);
        assertEquals(
                List.of(Kind.CONNECT), guest.misses.stream().map(Miss::kind).toList());
        assertEquals(
                "all recorded connections to it are used (1)",
                guest.misses.getFirst().why());
    }

    @Test
    void aPeerThatWasNotRecordedDoesNotExist() throws Exception {
        TestGuest guest = guest();
        var connection = guest.open(50_000, 443, List.of(asks("x")));
        guest.settle();
        assertTrue(connection.reset);
        assertEquals(
                "no connection to this address and port was recorded",
                guest.misses.getFirst().why());
    }

    @Test
    void refusedAndUnansweredConnectionsStaySo() throws Exception {
        recording.refused(40_000, 80);
        recording.unanswered(40_001, 80);
        recording.connection(40_002, 80, List.of(asks("GET /"), answers("ok")));
        TestGuest guest = guest();
        var refused = guest.open(50_000, 80, List.of());
        guest.settle();
        var unanswered = guest.open(50_001, 80, List.of());
        guest.settle(); // sends its SYN again and again
        var accepted = guest.open(50_002, 80, List.of(asks("GET /"), answers("ok")));
        guest.settle();
        assertTrue(refused.reset && !refused.opened);
        assertFalse(unanswered.opened || unanswered.reset);
        assertEquals("ok", accepted.heard.toString(US_ASCII));
        assertEquals(List.of(), guest.misses);
    }

    @Test
    void tlsCannotBePlayedAndTheMissSaysSo() throws Exception {
        recording.connection(40_000, 443, List.of(asks("\u0016\u0003\u0001 random one"), answers("hello")));
        TestGuest guest = guest();
        guest.open(50_000, 443, List.of(asks("\u0016\u0003\u0001 random two"), answers("hello")));
        guest.settle();
        assertTrue(guest.misses.getFirst().why().startsWith("TLS: "), guest.misses::toString);
    }

    static byte[] question(int id, String label) {
        String hex = "%04x01000001000000000000%02x%s00000100"
                .formatted(id, label.length(), HexFormat.of().formatHex(label.getBytes(US_ASCII)));
        return HexFormat.of().parseHex(hex + "01");
    }

    static void ask(TestGuest guest, int port, int remotePort, byte[] payload) {
        guest.say(new UdpDatagram(port, remotePort, payload, 0).packet(Recording.GUEST, Recording.GATEWAY));
    }

    static byte[] answer(TestGuest guest) {
        List<IpPacket> packets = guest.packets();
        assertEquals(1, packets.size());
        UdpDatagram datagram = UdpDatagram.parse(packets.getFirst().payload());
        return datagram == null ? EMPTY : datagram.payload();
    }

    @Test
    void aQuestionIsAnsweredUnderItsOwnId() throws Exception {
        byte[] answer = question(7, "host");
        answer[2] = (byte) 0x81;
        recording.udp(true, 40_000, 53, question(7, "host"));
        recording.udp(false, 40_000, 53, answer);
        TestGuest guest = guest();
        for (int twice = 0; twice < 2; twice++) {
            ask(guest, 50_000, 53, question(9, "host"));
            byte[] expected = answer.clone();
            expected[1] = 9;
            assertArrayEquals(expected, answer(guest));
        }
        ask(guest, 50_000, 53, question(10, "host"));
        assertEquals(0x82, answer(guest)[3] & 0xff, "SERVFAIL for one more question");
        ask(guest, 50_000, 53, question(11, "other"));
        assertEquals(0x82, answer(guest)[3] & 0xff);
        assertEquals(
                List.of(Kind.DNS, Kind.DNS),
                guest.misses.stream().map(Miss::kind).toList());
    }

    @Test
    void twoQuestionsAtOnceGetTheirOwnAnswers() throws Exception {
        recording.udp(true, 40_000, 53, question(7, "host"));
        recording.udp(true, 40_000, 53, question(8, "other"));
        recording.udp(false, 40_000, 53, answerTo(8, "other"));
        recording.udp(false, 40_000, 53, answerTo(7, "host"));
        TestGuest guest = guest();
        ask(guest, 50_000, 53, question(9, "host"));
        assertArrayEquals(answerTo(9, "host"), answer(guest));
        ask(guest, 50_000, 53, question(10, "other"));
        assertArrayEquals(answerTo(10, "other"), answer(guest));
        assertEquals(List.of(), guest.misses);
    }

    @Test
    void aQuestionThatWasLostIsLostAgainAndItsRepetitionAnswered() throws Exception {
        recording.udp(true, 40_000, 53, question(7, "host"));
        recording.udp(true, 40_000, 53, question(7, "host"));
        recording.udp(false, 40_000, 53, answerTo(7, "host"));
        TestGuest guest = guest();
        ask(guest, 50_000, 53, question(9, "host"));
        assertEquals(List.of(), guest.packets());
        for (int twice = 0; twice < 2; twice++) {
            ask(guest, 50_000, 53, question(9, "host"));
            assertArrayEquals(answerTo(9, "host"), answer(guest));
        }
        ask(guest, 50_000, 53, question(10, "host"));
        assertEquals(0x82, answer(guest)[3] & 0xff, "SERVFAIL for one more question");
    }

    @Test
    void aLateAnswerToEachCopyOfAQuestionComesOnce() throws Exception {
        recording.udp(true, 40_000, 53, question(7, "host"));
        recording.udp(true, 40_000, 53, question(7, "host"));
        recording.udp(false, 40_000, 53, answerTo(7, "host"));
        recording.udp(false, 40_000, 53, answerTo(7, "host"));
        TestGuest guest = guest();
        ask(guest, 50_000, 53, question(9, "host"));
        assertEquals(List.of(), guest.packets());
        ask(guest, 50_000, 53, question(9, "host"));
        assertArrayEquals(answerTo(9, "host"), answer(guest));
    }

    static byte[] answerTo(int id, String name) {
        byte[] answer = question(id, name);
        answer[2] = (byte) 0x81;
        return answer;
    }

    @Test
    void datagramsAreAnsweredByContentAndElseUnreachable() throws Exception {
        recording.udp(true, 40_000, 9_000, "ping".getBytes(US_ASCII));
        recording.udp(false, 40_000, 9_000, "pong".getBytes(US_ASCII));
        recording.udp(true, 40_000, 9_000, "quiet".getBytes(US_ASCII));
        TestGuest guest = guest();
        ask(guest, 50_000, 9_000, "ping".getBytes(US_ASCII));
        assertEquals("pong", new String(answer(guest), US_ASCII));
        ask(guest, 50_000, 9_000, "quiet".getBytes(US_ASCII));
        assertEquals(List.of(), guest.packets());
        ask(guest, 50_000, 9_000, "ping".getBytes(US_ASCII));
        IcmpMessage message = IcmpMessage.of(guest.packets().getFirst());
        assertTrue(message != null && message.typeAndCode() == 0x303);
        assertEquals(
                List.of(Kind.DATAGRAM), guest.misses.stream().map(Miss::kind).toList());
    }

    @Test
    void theGatewayExistsAndStrangersDoNot() throws Exception {
        TestGuest guest = guest();
        var heard = new ArrayList<byte[]>();
        var peer = new CassettePeer(recording.cassette(), null, heard::add, guest.misses::add);
        for (String last : List.of("02", "03", "4d")) {
            peer.frame(
                    HexFormat.of()
                            .parseHex("ffffffffffff52540012345608060001080006040001525400123456"
                                    + "0a00020f0000000000000a0002" + last),
                    0);
        }
        assertEquals(2, heard.size());
        assertEquals(
                "52540012345652550a00020208060001080006040002" + "52550a000202" + "0a000202" + "525400123456"
                        + "0a00020f",
                HexFormat.of().formatHex(heard.getFirst(), 0, 42));
    }

    @Test
    void checksumsAreRight() {
        IpPacket packet = new TcpSegment(80, 50_000, 1, 2, TcpSegment.ACK, 3, 0, new byte[] {1, 2, 3}, 0)
                .packet(Recording.GATEWAY, Recording.GUEST);
        byte[] octets = packet.payload();
        assertEquals(0, Octets.checksum(Octets.sum(octets, 0, octets.length, packet.pseudoHeader())));
        byte[] frame = packet.frame(new byte[6], new byte[6]);
        assertEquals(0, Octets.checksum(Octets.sum(frame, 14, 34, 0)));
    }

    @Test
    void addressesAreWrittenAsTheyShouldBe() {
        for (String text :
                List.of("fec0::2", "::", "::1", "2001:db8::1:0:0:1", "1:2:3:4:5:6:7:8", "10.0.2.2", "fe80::")) {
            assertEquals(text, IpAddress.text(Octets.ofAddress(text)));
        }
    }
}
