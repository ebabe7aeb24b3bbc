package blackbox.policy.decide;

import blackbox.policy.host.Address;
import blackbox.policy.host.AddressKind;
import blackbox.policy.host.HostName;
import blackbox.policy.host.Ports;
import blackbox.policy.host.RequestPath;
import java.util.Base64;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// What is refused whatever a policy says, because it would be a way around any policy.
public final class Builtins {

    /// The name of a refusal that HTTP has a status for, 421.
    public static final String MISDIRECTED = Decision.BUILTIN + "misdirected";

    private static final int DNS_OVER_TLS = 853;
    private static final int HTTPS = 443;

    /// Types of records that rules about addresses decide (with HTTPS and SVCB, which are answered as empty),
    /// and those that a policy can name.
    static final Set<String> ADDRESS_TYPES = Set.of("A", "AAAA", "HTTPS", "SVCB");

    private static final Set<String> DNS_MESSAGES =
            Set.of("application/dns-message", "application/dns-json", "application/oblivious-dns-message");
    private static final String DNS_QUERY = "/dns-query";
    private static final String DNS_PARAMETER = "dns";

    /// A header, the root, a type and a class.
    private static final int DNS_QUESTION_BYTES_MIN = 17;

    private static final Pattern ESCAPE = Pattern.compile("%([0-9a-fA-F]{2})");

    /// RFC 9110, section 5.6.2.
    private static final Pattern TOKEN = Pattern.compile("[A-Z0-9!#$%&'*+.^_`|~-]{1,64}");

    /// Names for the host itself (RFC 6761, section 6.3) and for where clouds serve credentials.
    private static final String LOCALHOST = "localhost";

    private static final Set<String> METADATA_NAMES = Set.of(
            "metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal");

    private Builtins() {}

    /// What a name stands for by itself, whatever it resolves to.
    public static AddressKind kind(HostName name) {
        String text = name.text();
        if (text.equals(LOCALHOST) || text.endsWith("." + LOCALHOST)) {
            return AddressKind.LOOPBACK;
        }
        return METADATA_NAMES.contains(text) ? AddressKind.METADATA : AddressKind.PUBLIC;
    }

    /// Whether a media type is that of a question about names: no other decides anything.
    public static boolean isOfDns(String mediaType) {
        return DNS_MESSAGES.contains(mediaType.toLowerCase(Locale.ROOT));
    }

    /// Why a request is refused; null if nothing here refuses it.
    static @Nullable Decision refusal(Request request) {
        Connection connection = request.connection();
        String name = request instanceof Request.Dns dns ? dns.name() : connection == null ? null : connection.host();
        if (name != null) {
            String why = whyNoName(name);
            if (why != null) {
                return deny(request, "host", "'" + shown(name) + "' is no host name: " + why);
            }
        }
        Decision refused = connection == null ? null : transport(request, connection);
        if (refused == null && connection != null) {
            refused = misdirected(request, connection);
        }
        Exchange exchange = request.exchange();
        return refused == null && exchange != null ? exchange(request, exchange) : refused;
    }

    private static @Nullable String whyNoName(String name) {
        try {
            HostName unused = HostName.of(name);
            return null;
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
    }

    private static @Nullable Decision transport(Request request, Connection connection) {
        if (connection.port() < 1 || connection.port() > Ports.PORT_MAX) {
            return deny(request, "port", "there is no port " + connection.port());
        }
        if (connection.port() == DNS_OVER_TLS) {
            return deny(
                    request, "dot", "DNS over TLS or QUIC (port 853) is refused: names are asked of the gateway alone");
        }
        if (connection.transport() == Connection.Transport.UDP) {
            return connection.port() == HTTPS
                    ? deny(request, "quic", "QUIC (UDP port 443) is refused: use HTTP over TCP")
                    : deny(request, "udp", "UDP is refused: rules allow TCP only");
        }
        return null;
    }

    /// A request goes to the name that its connection was allowed for, or nowhere (RFC 9110, section 7.4: 421).
    private static @Nullable Decision misdirected(Request request, Connection connection) {
        String serverName = request.serverName();
        if (serverName != null && !isPeer(serverName, connection)) {
            return deny(
                    request,
                    "misdirected",
                    "the TLS server name '" + shown(serverName) + "' is not " + shown(connection.peer())
                            + ", to which the connection is");
        }
        Exchange exchange = request.exchange();
        if (exchange == null) {
            return null;
        }
        String host = exchange.authority();
        int colon = host.lastIndexOf(':');
        if (colon > host.lastIndexOf(']')) {
            if (!host.substring(colon + 1).equals(Integer.toString(connection.port()))) {
                return deny(
                        request,
                        "misdirected",
                        "the request is for the port of '" + shown(host) + "', and the connection to port "
                                + connection.port());
            }
            host = host.substring(0, colon);
        }
        return isPeer(host, connection)
                ? null
                : deny(
                        request,
                        "misdirected",
                        "the request is for the host '" + shown(host) + "', and the connection to "
                                + shown(connection.peer()));
    }

    private static boolean isPeer(String said, Connection connection) {
        if (connection.host() == null) {
            Address address = Address.parse(said);
            return address != null && address.equals(connection.address());
        }
        return whyNoName(said) == null && HostName.of(said).equals(HostName.of(connection.host()));
    }

    private static @Nullable Decision exchange(Request request, Exchange exchange) {
        String method = exchange.method();
        if (!TOKEN.matcher(method).matches()) {
            return deny(request, "method", "the method '" + shown(method) + "' is none");
        }
        if (method.equals("CONNECT") || method.equals("TRACE")) {
            return deny(request, "method", "the method " + method + " is refused");
        }
        if (!exchange.target().startsWith("/") && !exchange.target().equals("*")) {
            return deny(request, "target", "the target of the request is neither a path nor *");
        }
        boolean isQuery = RequestPath.of(exchange.target()) instanceof RequestPath.Clean path
                && (path.text().equals(DNS_QUERY) || path.text().startsWith(DNS_QUERY + "/"));
        return isQuery
                        || isUnsafeQuery(exchange.target())
                        || hasDnsMessage(exchange.target())
                        || exchange.mediaTypes().stream().anyMatch(DNS_MESSAGES::contains)
                ? deny(request, "doh", "DNS over HTTPS is refused: names are asked of the gateway alone")
                : null;
    }

    /// Whether a server that reads a path in its own way may find that name in it.
    private static boolean isUnsafeQuery(String target) {
        int query = target.indexOf('?');
        String path = query < 0 ? target : target.substring(0, query);
        return RequestPath.of(target) instanceof RequestPath.Unsafe
                && decoded(path).toLowerCase(Locale.ROOT).contains(DNS_QUERY.substring(1));
    }

    /// Whether a parameter `dns` has a question in it (RFC 8484, section 4.1), at whichever path.
    private static boolean hasDnsMessage(String target) {
        int query = target.indexOf('?');
        if (query < 0) {
            return false;
        }
        for (String parameter : target.substring(query + 1).split("[&;]")) {
            int equals = parameter.indexOf('=');
            if (equals > 0
                    && decoded(parameter.substring(0, equals)).equalsIgnoreCase(DNS_PARAMETER)
                    && isQuestion(decoded(parameter.substring(equals + 1)))) {
                return true; // servers differ in which of several they take
            }
        }
        return false;
    }

    private static String decoded(String text) {
        return ESCAPE.matcher(text).replaceAll(Builtins::octet);
    }

    private static boolean isQuestion(String base64) {
        try {
            byte[] message = Base64.getUrlDecoder()
                    .decode(base64.replace('+', '-').replace('/', '_').replace("=", ""));
            boolean isQuery = message.length >= DNS_QUESTION_BYTES_MIN && (message[2] & 0xf8) == 0;
            return isQuery && message[4] == 0 && message[5] == 1 && message[6] == 0 && message[7] == 0;
        } catch (IllegalArgumentException _) {
            return false;
        }
    }

    private static String octet(MatchResult escape) {
        char octet = (char) Integer.parseInt(escape.group(1), 16);
        return java.util.regex.Matcher.quoteReplacement(String.valueOf(octet));
    }

    static Decision deny(Request request, String name, String reason) {
        return new Decision(Verdict.DENY, request.stage(), Decision.BUILTIN + name, reason, Set.of());
    }

    /// A name that a hostile guest has chosen, fit to be printed.
    private static String shown(String text) {
        String cut = text.length() > 100 ? text.substring(0, 100) + "…" : text;
        return cut.codePoints()
                .mapToObj(c -> c < ' ' || c >= 0x7f && c != '…' ? "\\u{%x}".formatted(c) : Character.toString(c))
                .collect(Collectors.joining());
    }
}
