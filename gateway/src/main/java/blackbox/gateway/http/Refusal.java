package blackbox.gateway.http;

import blackbox.gateway.egress.Ruling;
import blackbox.gateway.egress.Verdict;
import org.jspecify.annotations.Nullable;

/// What an agent reads of a request that was not served.
final class Refusal {
    private Refusal() {}

    static String json(Ruling stop) {
        String given = stop.json();
        Verdict verdict = stop.verdict();
        return given != null ? given : json(stop.status(), verdict.reason(), verdict.rule());
    }

    static String json(int status, String reason, @Nullable String rule) {
        return "{\"error\":" + text("Blackbox egress gateway: " + reason) + ",\"rule\":"
                + (rule == null ? "null" : text(rule)) + ",\"status\":" + status + "}\n";
    }

    /// A JSON string (RFC 8259 section 7).
    private static String text(String value) {
        var out = new StringBuilder(value.length() + 2).append('"');
        for (int at = 0; at < value.length(); at++) {
            char c = value.charAt(at);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                out.append("\\u%04x".formatted((int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }
}
