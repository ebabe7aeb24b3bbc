package blackbox.schemas.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
}
