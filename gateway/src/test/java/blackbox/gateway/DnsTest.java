package blackbox.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.Decision.Stage;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.FlowEnd.How;
import blackbox.schemas.net.DnsMessage;
import blackbox.schemas.net.Octets;
import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Names: what a guest is told about them, and where a connection to their addresses goes.
class DnsTest {
    private static final String NAME_SERVER = "10.0.2.3";
    private static final int A = 1;

    @TempDir
    Path folder;

    private static byte[] question(int id, String name, int type, int ednsBytes) {
        var out = new ByteArrayOutputStream();
        out.writeBytes(
                new byte[] {(byte) (id >> 8), (byte) id, 1, 0, 0, 1, 0, 0, 0, 0, 0, (byte) (ednsBytes > 0 ? 1 : 0)});
        for (String label : name.isEmpty() ? new String[0] : name.split("\\.")) {
            out.write(label.length());
            out.writeBytes(label.getBytes(StandardCharsets.ISO_8859_1));
        }
        out.writeBytes(new byte[] {0, (byte) (type >> 8), (byte) type, 0, 1});
        if (ednsBytes > 0) {
            out.writeBytes(new byte[] {0, 0, 41, (byte) (ednsBytes >> 8), (byte) ednsBytes, 0, 0, 0, 0, 0, 0});
        }
        return out.toByteArray();
    }

    private static byte[] ask(Served served, byte[] question) throws Exception {
        served.guest.send(TestGuest.udp(NAME_SERVER, 40_000, 53, question));
        return served.guest.nextDatagram();
    }

    private static int code(byte[] answer) {
        return answer[3] & 0xf;
    }

    static String address(Served served, String name) throws Exception {
        DnsMessage answer = DnsMessage.parse(ask(served, question(7, name, A, 0)));
        assertNotNull(answer);
        assertEquals(name, answer.name());
        assertEquals(1, answer.answers().size(), name);
        return answer.answers().getFirst();
    }

    @Test
    void aNameHasOneAddressInEveryRun() throws Exception {
        String first;
        try (var served = new Served(folder)) {
            first = address(served, "ok.example");
            assertTrue(first.startsWith("198.18.") || first.startsWith("198.19."), first);
            assertEquals(first, address(served, "ok.example"));
            assertNotEquals(first, address(served, "ok.example.org"));
            Decision decision = served.listener.decisions().getFirst();
            assertEquals(Stage.DNS, decision.stage());
            assertEquals("names", decision.rule());
            assertEquals("ok.example", decision.host());
            assertEquals("A", decision.what());
        }
        try (var served = new Served(folder)) {
            String other = address(served, "ok.another");
            assertNotEquals(first, other);
            assertEquals(first, address(served, "ok.example"), "whatever was asked before");
            String reverse = String.join(".", List.of(first.split("\\.")).reversed()) + ".in-addr.arpa";
            byte[] pointer = ask(served, question(9, reverse, 12, 0));
            assertEquals(0, code(pointer));
            assertTrue(HexFormat.of().formatHex(pointer).contains("026f6b076578616d706c6500"), "ok.example");
            assertEquals(3, code(ask(served, question(9, "1.0.0.127.in-addr.arpa", 12, 0))));
        }
    }

    @Test
    void aDeniedNameIsSaidToBeBlocked() throws Exception {
        try (var served = new Served(folder)) {
            byte[] answer = ask(served, question(0xabcd, "evil.example", A, 1_232));
            assertEquals(0xabcd, Octets.u16(answer, 0));
            assertEquals(3, code(answer), "NXDOMAIN");
            assertEquals(1, Octets.u16(answer, 8), "with an SOA, so that it is remembered");
            String text = new String(answer, StandardCharsets.ISO_8859_1);
            assertTrue(text.contains("\0\17no rule allows evil.example"), "EDE 15 with the reason: " + text);
            byte[] plain = ask(served, question(1, "evil.example", A, 0));
            assertEquals(0, Octets.u16(plain, 10), "who has no EDNS gets none");
            assertTrue(served.listener.decisions().stream().noneMatch(Decision::allowed));
        }
    }

    @Test
    void otherTypesHaveNoData() throws Exception {
        try (var served = new Served(folder)) {
            for (int type : new int[] {28, 64, 65, 16, 15, 33, 2, 255}) {
                byte[] answer = ask(served, question(type, "ok.example", type, 1_232));
                assertEquals(0, code(answer), "type " + type);
                assertEquals(0, Octets.u16(answer, 6), "type " + type);
                assertEquals(1, Octets.u16(answer, 8), "type " + type);
            }
            assertEquals(0, code(ask(served, question(1, "evil.example", 16, 0))), "says nothing about the name");
            assertEquals(3, code(ask(served, question(1, "evil.example", 28, 0))));
        }
    }

    @Test
    void whatIsNoNameOfAHostIsNotAsked() throws Exception {
        try (var served = new Served(folder)) {
            String long64 = "ok" + "a".repeat(62);
            List<String> names = List.of(
                    "ok .example",
                    "ok\0.example",
                    "ok-.example",
                    "-ok.example",
                    "ok.127.1",
                    "ok.0x7f",
                    "1.2.3.4",
                    "ok\\.x",
                    "ok.ex\u00e4mple",
                    "ok!.example");
            for (String name : names) {
                assertEquals(3, code(ask(served, question(1, name, A, 0))), name);
            }
            assertEquals(1, code(ask(served, question(1, long64, A, 0))), "a label of 64");
            String label63 = "ok" + "a".repeat(61);
            String name253 = String.join(".", label63, label63, label63, label63.substring(2));
            assertEquals(253, name253.length());
            assertEquals(0, code(ask(served, question(1, name253, A, 0))));
            assertEquals(
                    1, code(ask(served, question(1, name253 + ".toolong", A, 0))), "a name of more than 255 octets");
            assertTrue(served.listener.decisions().stream()
                            .filter(Decision::allowed)
                            .count()
                    == 1);
        }
    }

    @Test
    void hostileMessages() throws Exception {
        try (var served = new Served(folder)) {
            byte[] good = question(1, "ok.example", A, 1_232);
            byte[] response = good.clone();
            response[2] |= (byte) 0x80;
            byte[] loop = question(1, "ok", A, 0);
            loop[12] = (byte) 0xc0;
            loop[13] = 12;
            byte[] status = good.clone();
            status[2] = 0x10;
            byte[] chaos = good.clone();
            chaos[good.length - 12] = 3;
            byte[] two = good.clone();
            two[5] = 2;
            byte[] answered = good.clone();
            answered[7] = 1;
            served.guest.send(TestGuest.udp(NAME_SERVER, 40_000, 53, response)); // no answer to an answer
            assertEquals(1, code(ask(served, loop)), "compression that leads nowhere");
            assertEquals(4, code(ask(served, status)), "another opcode");
            assertEquals(5, code(ask(served, chaos)), "another class");
            assertEquals(1, code(ask(served, two)), "two questions");
            assertEquals(1, code(ask(served, answered)), "a question with an answer in it");
            for (int length = 12; length < good.length; length++) {
                byte[] answer = ask(served, Arrays.copyOf(good, length));
                assertEquals(1, code(answer), "cut to " + length);
                assertEquals(12, answer.length);
            }
            served.guest.send(TestGuest.udp(NAME_SERVER, 40_000, 53, Arrays.copyOf(good, 11)));
            assertEquals(0, code(ask(served, good)));
            assertEquals(List.of(), served.guest.drain());
        }
    }

    @Test
    void tooLongForUdpIsAskedForByTcp() throws Exception {
        try (var served = new Served(folder)) {
            String label = "b".repeat(63);
            String name = String.join(".", label, label, label, "c".repeat(61));
            byte[] cut = ask(served, question(5, name, A, 512));
            assertTrue((cut[2] & 2) != 0, "TC");
            assertTrue(cut.length <= 512);
            byte[] whole = ask(served, question(5, name, A, 4_096));
            assertTrue((whole[2] & 2) == 0 && whole.length > 512 && whole.length <= 1_232);
            TestConnection tcp =
                    served.guest.connect("9.9.9.9", 53, 41_000).pieces(7).awaitOpen();
            byte[] asked = question(5, name, A, 512);
            for (int i = 0; i < 100; i++) {
                tcp.send(ByteBuffer.allocate(2 + asked.length)
                        .putShort((short) asked.length)
                        .put(asked)
                        .array());
            }
            tcp.awaitReceived(100 * (2 + whole.length));
            byte[] received = tcp.received();
            assertEquals(100 * (2 + whole.length), received.length);
            assertArrayEquals(whole, Arrays.copyOfRange(received, 2, 2 + whole.length));
            tcp.finish();
            tcp.awaitFinished();
        }
    }

    @Test
    void aFloodOfNamesIsBounded() throws Exception {
        try (var served = new Served(folder)) {
            int got = 0;
            var addresses = new HashSet<String>();
            for (int i = 0; i < 100_000; i += 100) {
                var frames = new byte[100][];
                for (int j = 0; j < 100; j++) {
                    frames[j] = TestGuest.udp(NAME_SERVER, 40_000, 53, question(j, "ok" + (i + j) + ".example", A, 0));
                }
                served.guest.send(frames);
                for (int j = 0; j < 100; j++) {
                    DnsMessage answer = DnsMessage.parse(served.guest.nextDatagram());
                    assertNotNull(answer);
                    got++;
                    addresses.addAll(answer.answers());
                }
            }
            assertEquals(100_000, got);
            assertEquals(1_024, addresses.size(), "all different");
            assertTrue(addresses.stream().noneMatch(each -> each.endsWith(".0") || each.endsWith(".255")));
            served.gateway.close();
            assertEquals(100_000 - 1_024, served.listener.count(Finding.NAMES_REFUSED));
        }
    }

    @Test
    void aConnectionToANamesAddressGoesToTheName() throws Exception {
        try (var served = new Served(folder);
                var there = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            served.hosts.put("ok.local", List.of(InetAddress.getLoopbackAddress()));
            String address = address(served, "ok.local");
            TestConnection guest =
                    served.guest.connect(address, there.getLocalPort(), 40_000).awaitOpen();
            try (var accepted = there.accept()) {
                guest.send(new byte[] {5});
                assertEquals(5, accepted.getInputStream().read());
            }
            Decision decision = served.listener.decisions().getLast();
            assertEquals(Stage.DIAL, decision.stage());
            assertEquals("ok.local", decision.host());
            assertEquals("127.0.0.1:" + there.getLocalPort(), decision.what());
        }
    }

    /// Questions that are longer than any, or none, hold nothing; nor do many connections that ask nothing.
    @Test
    void whatAsksNothingOverTcpIsBounded() throws Exception {
        try (var served = new Served(folder)) {
            for (byte[] message : new byte[][] {{(byte) 0xff, (byte) 0xf0, 1}, {0, 3, 1, 2, 3}}) {
                TestConnection asking = served.guest
                        .connect("10.0.2.3", 53, 41_000 + message.length)
                        .awaitOpen();
                asking.send(message);
                asking.awaitFinished();
                asking.finish();
            }
            for (int i = 0; i < 64; i++) {
                var unused = served.guest.connect("10.0.2.3", 53, 42_000 + i); // of the first two some may still end
            }
            served.guest.connect("10.0.2.3", 53, 43_000).awaitReset();
            assertTrue(served.listener.count(Finding.QUESTIONS_DROPPED) > 0);
        }
    }

    /// The name was allowed, and so was the connection; what it resolves to is another matter.
    @Test
    void aNameThatLeadsToTheHostItselfIsNotDialled() throws Exception {
        try (var served = new Served(folder)) {
            InetAddress open = InetAddress.ofLiteral("1.1.1.1");
            served.hosts.put("ok.rebound", List.of(open, InetAddress.getLoopbackAddress()));
            String address = address(served, "ok.rebound");
            served.guest.connect(address, served.port(), 40_000).awaitReset();
            Decision decision = served.listener.decisions().getLast();
            assertEquals(Stage.DIAL, decision.stage());
            assertEquals("ok.rebound. is not dialled: 127.0.0.1 is this host's", decision.reason());
            assertEquals(
                    Set.of(How.NOT_REACHED),
                    Set.of(served.listener.ends().getFirst().how()));
            assertEquals(1, served.listener.count(Finding.ADDRESS_REFUSED));
            assertTrue(served.accepted.isEmpty(), "nothing was dialled");
            served.guest.connect(address(served, "ok.unknown"), 80, 40_001).awaitReset();
            served.guest.connect("198.19.77.77", 80, 40_002).awaitReset();
            assertEquals(
                    "no name was given this address",
                    served.listener.decisions().getLast().reason());
        }
    }
}
