package blackbox.gateway.secret;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The octets of a secret, of which no text is ever made: 8 to 4,096 printable ASCII characters, as a header field can
/// carry them.
public final class SecretValue implements AutoCloseable {
    /// Shorter ones would be found where they are not.
    public static final int OCTETS_MIN = 8;

    /// Longer than any token; a head has at most 64 KiB.
    public static final int OCTETS_MAX = 4_096;

    private final byte[] octets;

    /// @param octets which it takes over: it clears them when it is closed, and at once if they are refused
    /// @throws IllegalArgumentException with a clause that says why it is no such value, and nothing of it
    public SecretValue(byte[] octets) {
        this.octets = octets;
        String fault = fault(octets);
        if (fault != null) {
            close();
            throw new IllegalArgumentException(fault);
        }
    }

    private static @Nullable String fault(byte[] octets) {
        if (octets.length == 0) {
            return "it is empty";
        }
        if (octets.length < OCTETS_MIN || octets.length > OCTETS_MAX) {
            return "it has " + octets.length + " octets; a secret has " + OCTETS_MIN + " to " + OCTETS_MAX;
        }
        for (byte octet : octets) {
            if (octet < ' ' || octet == 0x7f) {
                return "it has octets that cannot stand in a header field; only printable ASCII characters can";
            }
        }
        return octets[0] == ' ' || octets[octets.length - 1] == ' ' ? "it begins or ends with a space" : null;
    }

    /// Not a copy: whoever reads them does not keep them.
    byte[] octets() {
        return octets;
    }

    /// Whether it begins with this text.
    boolean startsWith(String ascii) {
        if (ascii.length() > octets.length) {
            return false;
        }
        for (int at = 0; at < ascii.length(); at++) {
            if (octets[at] != ascii.charAt(at)) {
                return false;
            }
        }
        return true;
    }

    /// Clears it.
    @Override
    public void close() {
        Arrays.fill(octets, (byte) 0);
    }

    @Override
    public String toString() {
        return "a secret";
    }
}
