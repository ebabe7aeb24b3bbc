package blackbox.policy.text;

import blackbox.policy.McpTools;
import blackbox.policy.PathRules;
import blackbox.policy.PathRules.EncodedSlash;
import blackbox.policy.Traffic;
import blackbox.policy.host.HostName;
import blackbox.policy.host.HostPattern;
import blackbox.policy.host.PathPattern;
import blackbox.policy.host.Ports;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The address of an MCP server, normalised.
record McpUrl(String text, HostName host, int port, String path) {

    private static final Pattern URL = Pattern.compile("(https?)://([^/?#@:\\[\\]]+)(?::([0-9]{1,5}))?(/[^?#*]*)?");

    /// What clients of the streamable HTTP transport use (MCP 2025-06-18, Transports).
    private static final List<String> METHODS = List.of("DELETE", "GET", "POST");

    /// @throws IllegalArgumentException with a clause that says why it is none
    static McpUrl parse(String text) {
        Matcher url = URL.matcher(text);
        if (!url.matches()) {
            throw new IllegalArgumentException(
                    "write https://NAME/PATH, with a port if it is not the usual one, and without user, query or"
                            + " wildcards");
        }
        HostName host = HostName.ofUnicode(url.group(2));
        boolean tls = url.group(1).equals("https");
        int usual = tls ? 443 : 80;
        int port =
                url.group(3) == null ? usual : Ports.Range.parse(url.group(3)).first();
        String path =
                PathPattern.parse(url.group(4) == null ? "/" : url.group(4)).text();
        return new McpUrl(url.group(1) + "://" + host + (port == usual ? "" : ":" + port) + path, host, port, path);
    }

    /// What goes to the server.
    Traffic traffic(McpTools tools) {
        return new Traffic(
                HostPattern.parse(host.text()),
                List.of(),
                Ports.of(List.of(new Ports.Range(port, port))),
                METHODS,
                new PathRules(
                        List.of(new PathPattern(path)),
                        path.contains("%2F") ? EncodedSlash.CHARACTER : EncodedSlash.REFUSED),
                tools);
    }
}
