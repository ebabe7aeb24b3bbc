package blackbox.policy.decide;

import blackbox.policy.host.Address;
import blackbox.policy.host.HostName;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A URL that somebody asks about.
///
/// @param host a name in its normal form, or an address without brackets
/// @param target path and query
public record Url(Scheme scheme, String host, int port, String target) {

    /// What is spoken with the host.
    public enum Scheme {
        HTTP,
        HTTPS,
        WS,
        WSS,
        /// Anything over a TCP connection.
        TCP
    }

    private static final Pattern URL = Pattern.compile("([a-z]+)://([^/?#]*?)(?::([0-9]{1,5}))?([/?][^#]*)?(#.*)?");
    private static final Map<String, Scheme> SCHEMES =
            Map.of("http", Scheme.HTTP, "https", Scheme.HTTPS, "ws", Scheme.WS, "wss", Scheme.WSS, "tcp", Scheme.TCP);

    /// Reads a URL as people type it; without a scheme, `https` is meant.
    ///
    /// @throws IllegalArgumentException with a sentence that says why it is none
    public static Url parse(String text) {
        String whole = text.contains("://") ? text : "https://" + text;
        Matcher parts = URL.matcher(whole);
        Scheme scheme = parts.matches() ? SCHEMES.get(parts.group(1)) : null;
        if (scheme == null) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no URL of http, https, ws, wss or tcp, such as https://api.example/v1");
        }
        if (parts.group(3) == null && scheme == Scheme.TCP) {
            throw new IllegalArgumentException("'" + text + "' needs a port: tcp://HOST:PORT");
        }
        boolean tls = scheme == Scheme.HTTPS || scheme == Scheme.WSS;
        int port = parts.group(3) == null ? tls ? 443 : 80 : Integer.parseInt(parts.group(3));
        String target = parts.group(4) == null ? "/" : parts.group(4);
        return new Url(scheme, host(text, parts.group(2)), port, target.startsWith("?") ? "/" + target : target);
    }

    private static String host(String text, String said) {
        Address address = Address.parse(said);
        if (address != null) {
            return address.toString();
        }
        try {
            return HostName.ofUnicode(said).text();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "the host '" + said + "' of '" + text + "' is none: " + e.getMessage(), e);
        }
    }

    /// Whether TLS is spoken.
    public boolean isTls() {
        return scheme == Scheme.HTTPS || scheme == Scheme.WSS;
    }
}
