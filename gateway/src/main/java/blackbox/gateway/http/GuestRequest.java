package blackbox.gateway.http;

import blackbox.gateway.egress.HttpField;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.http.Framing.Kind;
import blackbox.gateway.http.HttpReader.Head;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The head of a guest's request, checked.
///
/// @param judged what is judged of it
/// @param expectsContinue whether its client waits for 100 before it sends the body
/// @param last whether its client wants no other answer on the connection
/// @param webSocket the keys with which it asks for a WebSocket; null if it does not
record GuestRequest(
        HttpVersion version,
        RequestHead judged,
        Fields fields,
        Framing framing,
        boolean expectsContinue,
        boolean last,
        @Nullable WebSocketKeys webSocket) {
    private static final Pattern AUTHORITY = Pattern.compile(
            "(?:(?=.{1,260}$)[A-Za-z0-9_-]{1,63}(?:\\.[A-Za-z0-9_-]{1,63})*\\.?|\\[[0-9A-Fa-f:.]{2,45}\\])(?::[0-9]{1,5})?");
    private static final int FORBIDDEN = 403;
    private static final Set<String> METHOD_FIELDS =
            Set.of("x-http-method-override", "x-http-method", "x-method-override");
    private static final Set<String> TARGET_FIELDS = Set.of("x-original-url", "x-rewrite-url");
    private static final String VERSION = "HTTP/1.";

    static GuestRequest of(Head head) throws HttpFault {
        String[] line = head.start().split(" ", -1);
        if (line.length != 3) {
            throw HttpFault.bad("its first line is not method, target and version with one space between");
        }
        String method = line[0];
        int minor = minor(line[2]);
        Fields fields = head.fields();
        String authority = host(fields);
        Framing framing = Framing.of(fields, minor, Framing.NONE);
        boolean webSocket = minor == 1
                && fields.tokens("upgrade").contains("websocket")
                && fields.tokens("connection").contains("upgrade");
        if (webSocket && (!method.equals("GET") || !framing.is(Kind.NONE))) {
            throw HttpFault.bad("a WebSocket is asked for by GET without a body");
        }
        WebSocketKeys keys = webSocket ? WebSocketKeys.of(fields) : null;
        RequestHead judged = judged(method, authority, line[1], fields, webSocket);
        boolean last = minor == 0 || fields.tokens("connection").contains("close");
        boolean waits = expectsContinue(fields, framing) && minor == 1;
        return new GuestRequest(
                minor == 0 ? HttpVersion.HTTP_1_0 : HttpVersion.HTTP_1_1, judged, fields, framing, waits, last, keys);
    }

    /// One in HTTP/2.
    ///
    /// @param fields without pseudo fields
    static GuestRequest http2(String method, String authority, String target, Fields fields, Framing framing)
            throws HttpFault {
        RequestHead judged = judged(method, authority, target, fields, false);
        return new GuestRequest(
                HttpVersion.HTTP_2, judged, fields, framing, expectsContinue(fields, framing), false, null);
    }

    private static RequestHead judged(String method, String authority, String target, Fields fields, boolean webSocket)
            throws HttpFault {
        if (!HttpReader.isToken(method)) {
            throw HttpFault.bad("its method is not a token");
        }
        if (target.isEmpty() || !isPrintable(target)) {
            throw HttpFault.bad("its target has characters that must be percent-encoded");
        }
        if (!AUTHORITY.matcher(authority).matches()) {
            throw HttpFault.bad("its Host is neither a name nor an address, with or without a port");
        }
        meansWhatItSays(method, target, fields);
        return new RequestHead(
                method,
                authority,
                target,
                mediaTypes(fields),
                webSocket,
                joined(fields.values("content-type")),
                joined(fields.values("content-encoding")));
    }

    private static @Nullable String joined(List<String> values) {
        return values.isEmpty() ? null : String.join(", ", values);
    }

    private static int minor(String version) throws HttpFault {
        if (version.equals(VERSION + "1")) {
            return 1;
        }
        if (version.equals(VERSION + "0")) {
            return 0;
        }
        throw version.matches("HTTP/[0-9]\\.[0-9]")
                ? new HttpFault(HttpFault.VERSION_NOT_SUPPORTED, "only HTTP/1.1 and HTTP/1.0 are spoken here")
                : HttpFault.bad("its version is not HTTP/1.1");
    }

    private static boolean isPrintable(String text) {
        return text.chars().allMatch(c -> c > ' ' && c < 0x7f);
    }

    private static String host(Fields fields) throws HttpFault {
        List<String> hosts = fields.values("host");
        if (hosts.size() != 1) {
            throw HttpFault.bad(hosts.isEmpty() ? "it has no Host" : "it has more than one Host");
        }
        return hosts.getFirst();
    }

    /// Some servers take method or target out of a field instead, and would do another thing than was judged.
    private static void meansWhatItSays(String method, String target, Fields fields) throws HttpFault {
        for (HttpField field : fields.all()) {
            String name = field.name().toLowerCase(Locale.ROOT).replace('_', '-'); // as CGI's servers read it
            boolean another = METHOD_FIELDS.contains(name) && !field.value().equals(method)
                    || TARGET_FIELDS.contains(name) && !field.value().equals(target);
            if (another) {
                throw HttpFault.bad("its field " + field.name() + " names another "
                        + (METHOD_FIELDS.contains(name) ? "method" : "target") + " than its first line");
            }
        }
    }

    private static Set<String> mediaTypes(Fields fields) {
        var types = new LinkedHashSet<>(fields.tokens("accept"));
        types.addAll(fields.tokens("content-type"));
        return types;
    }

    private static boolean expectsContinue(Fields fields, Framing framing) throws HttpFault {
        List<String> expected = fields.values("expect");
        if (expected.isEmpty()) {
            return false;
        }
        if (expected.size() != 1 || !expected.getFirst().equalsIgnoreCase("100-continue")) {
            throw new HttpFault(HttpFault.EXPECTATION_FAILED, "it expects something else than 100-continue");
        }
        return !framing.is(Kind.NONE);
    }

    /// What was decided; but whatever that is, nothing is forwarded that is no request for a path.
    RequestVerdict served(RequestVerdict given) {
        String target = given.target();
        boolean proper =
                (target.startsWith("/") || target.equals("*") && judged.method().equals("OPTIONS"))
                        && isPrintable(target);
        boolean proxying = judged.method().equals("CONNECT") || judged.method().equals("TRACE");
        return !given.verdict().allowed() || proper && !proxying
                ? given
                : new RequestVerdict(
                        Verdict.deny(null, "only requests for a path are forwarded, and neither CONNECT nor TRACE"),
                        target,
                        FORBIDDEN);
    }

    /// The authority in the form that is forwarded: in lower case, without a final dot and without the scheme's port.
    String canonicalAuthority(int schemePort) {
        String all = judged.authority().toLowerCase(Locale.ROOT);
        int colon = all.startsWith("[") ? all.indexOf(':', all.indexOf(']')) : all.indexOf(':');
        String host = colon < 0 ? all : all.substring(0, colon);
        if (host.endsWith(".")) {
            host = host.substring(0, host.length() - 1);
        }
        return colon < 0 || Integer.parseInt(all, colon + 1, all.length(), 10) == schemePort
                ? host
                : host + all.substring(colon);
    }
}
