package blackbox.gateway.egress;

import blackbox.schemas.net.IpAddress;
import blackbox.schemas.net.Octets;

/// The addresses that begin with the same bits, such as 10.1.0.0/16. An address has the form of
/// [IpAddress]: an IPv4-mapped one is IPv4.
///
/// @param network its first address
/// @param bits how many of them are the same
public record AddressPrefix(String network, int bits) {

    public AddressPrefix {
        byte[] octets = Octets.ofAddress(network);
        if (bits < 0 || bits > octets.length * 8) {
            throw new IllegalArgumentException("no prefix of " + network + ": /" + bits);
        }
    }

    /// Reads an address with or without a length: `10.1.0.0/16`, `fd00::/8`, `192.0.2.7`.
    ///
    /// @throws IllegalArgumentException if it is neither
    public static AddressPrefix parse(String text) {
        int slash = text.indexOf('/');
        String network = IpAddress.canonical(slash < 0 ? text : text.substring(0, slash));
        if (network == null) {
            throw new IllegalArgumentException("no address or prefix: " + text);
        }
        int all = Octets.ofAddress(network).length * 8;
        return new AddressPrefix(network, slash < 0 ? all : Integer.parseInt(text.substring(slash + 1)));
    }

    /// Whether it includes an address of four or sixteen octets.
    public boolean includes(byte[] address) {
        byte[] own = Octets.ofAddress(network);
        if (own.length != address.length) {
            return false;
        }
        for (int bit = 0; bit < bits; bit++) {
            if (((own[bit >> 3] ^ address[bit >> 3]) >> (7 - (bit & 7)) & 1) != 0) {
                return false;
            }
        }
        return true;
    }
}
