package blackbox.gateway.dial;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.gateway.egress.AddressPrefix;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AddressGuardTest {
    private final AddressGuard guard = new AddressGuard(() -> Set.of("8.8.4.4", "2606:4700::7"));

    private String refusal(String... addresses) {
        List<InetAddress> all =
                List.of(addresses).stream().map(InetAddress::ofLiteral).toList();
        return String.valueOf(guard.refusal(all, List.of()));
    }

    @Test
    void whatIsNotOfTheInternetIsRefused() {
        for (String address : List.of(
                "0.0.0.0",
                "0.1.2.3",
                "10.0.0.1",
                "10.0.2.2",
                "100.64.0.1",
                "100.100.100.200",
                "127.0.0.1",
                "127.255.255.254",
                "168.63.129.16",
                "169.254.169.254",
                "169.254.0.1",
                "172.16.0.1",
                "172.31.255.255",
                "192.0.0.8",
                "192.0.2.1",
                "192.88.99.1",
                "192.168.1.1",
                "198.18.0.1",
                "198.19.255.255",
                "198.51.100.1",
                "203.0.113.1",
                "224.0.0.1",
                "239.255.255.255",
                "240.0.0.1",
                "255.255.255.255",
                "::",
                "::1",
                "::7f00:1",
                "::ffff:127.0.0.1",
                "::ffff:10.0.0.1",
                "64:ff9b::7f00:1",
                "64:ff9b:1::1",
                "100::1",
                "2001::1",
                "2001:20::1",
                "2001:db8::1",
                "2002:7f00:1::",
                "3fff::1",
                "5f00::1",
                "fc00::1",
                "fd00:ec2::254",
                "fe80::1",
                "fec0::3",
                "ff02::1")) {
            assertEquals(true, refusal(address).contains("is not a public address"), address);
        }
        for (String address : List.of(
                "1.1.1.1",
                "8.8.8.8",
                "100.63.255.255",
                "100.128.0.1",
                "172.15.0.1",
                "172.32.0.1",
                "198.17.0.1",
                "198.20.0.1",
                "223.255.255.255",
                "2606:4700::1111",
                "2001:4860::8888",
                "2a00::1")) {
            assertEquals("null", refusal(address), address);
        }
    }

    @Test
    void theHostsOwnAddressesAreRefused() throws Exception {
        assertEquals("8.8.4.4 is an address of the recording host", refusal("8.8.4.4"));
        assertEquals("2606:4700::7 is an address of the recording host", refusal("1.1.1.1", "2606:4700::7"));
        assertEquals("8.8.4.4 is an address of the recording host", refusal("1.1.1.1", "::ffff:8.8.4.4"));
        List<InetAddress> own = NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .toList();
        for (InetAddress address : own) {
            assertNotNull(AddressGuard.ofThisHost().refusal(List.of(address), List.of()), address.toString());
        }
    }

    @Test
    void oneThatARuleNamesIsDialled() {
        List<AddressPrefix> named = List.of(AddressPrefix.parse("10.1.0.0/16"), AddressPrefix.parse("fd00::/8"));
        assertNull(guard.refusal(List.of(InetAddress.ofLiteral("10.1.2.3"), InetAddress.ofLiteral("fd12::1")), named));
        assertNotNull(guard.refusal(List.of(InetAddress.ofLiteral("10.2.0.1")), named));
        assertNotNull(
                guard.refusal(List.of(InetAddress.ofLiteral("10.1.2.3"), InetAddress.ofLiteral("127.0.0.1")), named),
                "one bad address is enough: names are rebound that way");
    }
}
