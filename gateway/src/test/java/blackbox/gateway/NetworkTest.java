package blackbox.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.Decision.Stage;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.FlowEnd.How;
import blackbox.gateway.packet.IcmpMessage;
import blackbox.gateway.packet.IpPacket;
import blackbox.gateway.packet.TcpSegment;
import blackbox.gateway.packet.UdpDatagram;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.net.Octets;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What is on a guest's network besides connections that are allowed.
class NetworkTest {
    private static final String SOMEBODY = "192.0.2.99";

    @TempDir
    Path folder;

    private static byte[] arp(int operation, byte[] mac, String sender, String target) {
        var frame = new byte[42];
        Arrays.fill(frame, 0, 6, (byte) -1);
        System.arraycopy(mac, 0, frame, 6, 6);
        byte[] fixed = HexFormat.of().parseHex("08060001080006040000");
        System.arraycopy(fixed, 0, frame, 12, fixed.length);
        frame[21] = (byte) operation;
        System.arraycopy(mac, 0, frame, 22, 6);
        System.arraycopy(Octets.ofAddress(sender), 0, frame, 28, 4);
        System.arraycopy(Octets.ofAddress(target), 0, frame, 38, 4);
        return frame;
    }

    @Test
    void everybodyButTheGuestHasTheGatewaysEthernetAddress() throws Exception {
        try (var served = new Served(folder)) {
            for (String target : List.of("10.0.2.2", "10.0.2.3", "10.0.2.77", "198.18.0.1")) {
                served.guest.send(arp(1, TestGuest.MAC, "10.0.2.15", target));
                byte[] reply = served.guest.next();
                assertEquals(64, reply.length);
                assertEquals(2, reply[21]);
                assertArrayEquals(TestGuest.GATEWAY_MAC, Arrays.copyOfRange(reply, 22, 28));
                assertEquals(target, IpAddress.v4(reply, 28));
                assertArrayEquals(TestGuest.MAC, Arrays.copyOf(reply, 6));
            }
            served.guest.send(
                    arp(1, TestGuest.MAC, "0.0.0.0", "10.0.2.15"), // whether anybody has its address: nobody
                    arp(1, TestGuest.MAC, "10.0.2.2", "10.0.2.3"), // forged
                    arp(1, TestGuest.GATEWAY_MAC, "10.0.2.15", "10.0.2.3"), // forged
                    arp(1, TestGuest.MAC, "10.0.2.15", "10.0.2.2"));
            assertEquals("10.0.2.2", IpAddress.v4(served.guest.next(), 28));
            served.listener.await("not seen", all -> all.count(Finding.SOURCE_FORGED) == 2);
        }
    }

    private static byte[] echo(String to, byte[] from) {
        return TestGuest.frame(new IcmpMessage(IpPacket.ICMP, 8, 0, new byte[] {1, 2, 3, 4, 5, 6, 7, 8})
                .packet(from, Octets.ofAddress(to)));
    }

    private static IcmpMessage icmp(byte[] frame) {
        IpPacket packet = IpPacket.parse(frame);
        assertNotNull(packet);
        assertEquals(IpPacket.ICMP, packet.protocol());
        IcmpMessage message = IcmpMessage.of(packet);
        assertNotNull(message);
        return message;
    }

    @Test
    void onlyTheGatewayAnswersAnEcho() throws Exception {
        try (var served = new Served(folder)) {
            served.guest.send(echo("10.0.2.2", TestGuest.ADDRESS));
            IcmpMessage reply = icmp(served.guest.next());
            assertTrue(reply.isEchoReply());
            assertArrayEquals(new byte[] {1, 2, 3, 4, 5, 6, 7, 8}, reply.body());
            served.guest.send(echo(SOMEBODY, TestGuest.ADDRESS));
            assertEquals(3 << 8 | 13, icmp(served.guest.next()).typeAndCode());
        }
    }

    @Test
    void whatCannotBeJudgedGoesNowhere() throws Exception {
        try (var served = new Served(folder)) {
            byte[] forged = Octets.ofAddress("10.0.2.16");
            byte[] other = Octets.ofAddress(SOMEBODY);
            byte[] fragment = TestGuest.udp(SOMEBODY, 5, 6, new byte[20]);
            fragment[20] = 0x20;
            byte[] v6 = IpPacket.of(Octets.ofAddress("fe80::1"), Octets.ofAddress("2001:db8::1"), 6, new byte[20])
                    .frame(TestGuest.GATEWAY_MAC, TestGuest.MAC);
            byte[] solicitation = new IcmpMessage(IpPacket.ICMP6, 133, 0, new byte[4])
                    .packet(Octets.ofAddress("fe80::1"), Octets.ofAddress("ff02::2"))
                    .frame(TestGuest.GATEWAY_MAC, TestGuest.MAC);
            byte[] vlan = TestGuest.udp(SOMEBODY, 5, 6, new byte[20]);
            Octets.putU16(vlan, 12, 0x8100);
            served.guest.send(
                    echo("10.0.2.2", forged),
                    fragment,
                    v6,
                    solicitation,
                    vlan,
                    TestGuest.udp("255.255.255.255", 68, 67, new byte[300]),
                    TestGuest.frame(IpPacket.of(TestGuest.ADDRESS, other, 132, new byte[20])));
            assertEquals(3 << 8 | 13, icmp(served.guest.next()).typeAndCode(), "SCTP is told so");
            assertEquals(1, served.listener.count(Finding.SOURCE_FORGED));
            assertEquals(1, served.listener.count(Finding.FRAGMENT_REFUSED));
            assertEquals(1, served.listener.count(Finding.IPV6_REFUSED));
            assertEquals(2, served.listener.count(Finding.PROTOCOL_REFUSED));
            assertEquals(List.of(), served.guest.drain());
            assertEquals(List.of(), served.listener.decisions());
        }
    }

    @Test
    void aDeniedConnectionIsReset() throws Exception {
        try (var served = new Served(folder)) {
            served.guest.send(TestGuest.tcp(SOMEBODY, TestGuest.syn(40_000, 80, 1_000)));
            TcpSegment reset = TestGuest.segment(served.guest.next());
            assertTrue(reset != null && reset.is(TcpSegment.RST) && reset.acknowledgement() == 1_001);
            Decision decision = served.listener.decisions().getFirst();
            assertEquals(Stage.CONNECT, decision.stage());
            assertFalse(decision.allowed());
            assertEquals("no rule allows 192.0.2.99:80", decision.reason());
            assertEquals("80", decision.what());
            assertEquals(List.of(), served.listener.ends(), "what was denied does not end");
        }
    }

    @Test
    void whatIsNotReachedIsToldAsItIs() throws Exception {
        try (var served = new Served(folder)) {
            served.server.close(); // nobody listens there now
            served.connect(40_000).awaitReset();
            assertEquals(How.NOT_REACHED, served.listener.ends().getFirst().how());
            assertEquals(List.of(), served.guest.drain(), "refused is no ICMP");
        }
    }

    @Test
    void datagramsOfAnAllowedFlowAreRelayed() throws Exception {
        try (var served = new Served(folder);
                var echo = new DatagramSocket(served.port(), InetAddress.getLoopbackAddress())) {
            for (String text : List.of("first", "second")) {
                served.guest.send(
                        TestGuest.udp(Served.SERVER, 40_000, served.port(), text.getBytes(StandardCharsets.US_ASCII)));
                var packet = new DatagramPacket(new byte[100], 100);
                echo.receive(packet);
                assertEquals(text, new String(packet.getData(), 0, packet.getLength(), StandardCharsets.US_ASCII));
                packet.setData(("re " + text).getBytes(StandardCharsets.US_ASCII));
                echo.send(packet);
                assertEquals("re " + text, new String(served.guest.nextDatagram(), StandardCharsets.US_ASCII));
            }
            served.gateway.close();
            assertEquals(1, served.listener.ends().size(), "one flow");
            assertEquals(11, served.listener.ends().getFirst().octetsOut());
            assertEquals(17, served.listener.ends().getFirst().octetsIn());
        }
    }

    @Test
    void deniedDatagramsAreJudgedOnce() throws Exception {
        try (var served = new Served(folder)) {
            for (int i = 0; i < 10; i++) {
                served.guest.send(TestGuest.udp(SOMEBODY, 40_000, 1_234, new byte[] {1, 2}));
                IcmpMessage refusal = icmp(served.guest.next());
                assertEquals(3 << 8 | 13, refusal.typeAndCode());
                IpPacket quoted = refusal.quoted();
                UdpDatagram datagram = quoted == null ? null : UdpDatagram.parse(quoted.payload());
                assertTrue(datagram != null && datagram.destinationPort() == 1_234);
            }
            assertEquals(1, served.listener.decisions().size());
        }
    }

    @Test
    void opaqueProtocolsAreRefusedWhateverTheRules() throws Exception {
        try (var served = new Served(folder)) {
            served.guest.send(TestGuest.udp(Served.SERVER, 40_000, 443, new byte[1_200]));
            assertEquals(3 << 8 | 13, icmp(served.guest.next()).typeAndCode());
            served.guest.connect(Served.SERVER, 853, 40_001).awaitReset();
            assertEquals(2, served.listener.count(Finding.OPAQUE_REFUSED));
        }
    }

    @Test
    void aFloodOfFlowsOfDatagramsIsBounded() throws Exception {
        try (var served = new Served(folder)) {
            for (int i = 0; i < 200; i++) {
                var frames = new byte[100][];
                for (int j = 0; j < frames.length; j++) {
                    frames[j] = TestGuest.udp(SOMEBODY, 1_024 + i * 100 + j, 9, new byte[10]);
                }
                served.guest.send(frames);
            }
            served.guest.send(echo("10.0.2.2", TestGuest.ADDRESS));
            while (!icmp(served.guest.next()).isEchoReply()) {
                // the refusals
            }
            int flows = served.onLoop(network -> network.datagramFlowCount());
            assertEquals(1_024, flows);
            served.gateway.close();
            assertEquals(20_000 - 1_024, served.listener.count(Finding.DATAGRAM_FLOWS_DROPPED));
        }
    }
}
