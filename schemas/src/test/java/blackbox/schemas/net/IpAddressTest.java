package blackbox.schemas.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class IpAddressTest {

    @Test
    void ipv6TextIsCanonical() {
        var octets = new byte[16];
        assertEquals("::", IpAddress.v6(octets, 0));
        octets[15] = 1;
        assertEquals("::1", IpAddress.v6(octets, 0));
        octets[0] = 0x20;
        octets[1] = 1;
        octets[7] = 5;
        assertEquals("2001:0:0:5::1", IpAddress.v6(octets, 0));
        octets[0] = octets[1] = octets[7] = octets[15] = 0;
        octets[10] = octets[11] = (byte) 0xff;
        octets[12] = 9;
        assertEquals("9.0.0.0", IpAddress.v6(octets, 0));
    }

    @Test
    void oneAddressHasOneForm() {
        for (String form : List.of("2001:0DB8:0:0::0001", "2001:db8::1", "[2001:db8:0:0:0:0:0:1]")) {
            assertEquals("2001:db8::1", IpAddress.canonical(form), form);
        }
        assertEquals("192.0.2.7", IpAddress.canonical("192.0.2.7"));
        assertEquals("192.0.2.7", IpAddress.canonical("::ffff:192.0.2.7"));
    }

    @Test
    void whatIsNoAddressHasNone() {
        for (String text : List.of("", "localhost", "fe80::1%1", "fe80::1%eth0", "1.2.3.4.5", "0x7f000001", "[::1")) {
            assertNull(IpAddress.canonical(text), text);
        }
    }

    @Test
    void bracketsAreLeftOutInPairsOnly() {
        assertEquals("::1", IpAddress.withoutBrackets("[::1]"));
        for (String host : List.of("::1", "[::1", "::1]", "", "[", "a")) {
            assertEquals(host, IpAddress.withoutBrackets(host));
        }
    }

    @Test
    void itTellsTheHostsOwnAddresses() {
        for (String own : List.of("127.0.0.1", "127.1.2.3", "::1")) {
            assertTrue(IpAddress.isLoopback(own), own);
        }
        for (String other : List.of("10.0.2.2", "12.7.0.1", "::12", "", "null")) {
            assertFalse(IpAddress.isLoopback(other), other);
        }
    }
}
